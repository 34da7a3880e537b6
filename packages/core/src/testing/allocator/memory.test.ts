import { expect, test } from "vitest";
import { ManualClock } from "../manual-clock.ts";
import { memorySyncStore, SyncMemory } from "../memory-sync-store.ts";
import { allocatorSuite } from "./suite.ts";
import { AllocatorAgent } from "./world.ts";

const memory = new SyncMemory();
allocatorSuite({ test, open: async () => memorySyncStore({ memory }) });

test("quotas that no agent reports are forgotten", async () => {
  const clock = new ManualClock();
  const own = new SyncMemory(clock);
  const store = memorySyncStore({ memory: own });
  for (let i = 0; i < 100; i++) {
    await new AllocatorAgent(store, "n", "a", { name: `quota ${i}`, windowMs: 60_000 }).ask();
    clock.advance(60_000);
  }
  expect(own.allocator.size).toBeLessThan(20);
});
