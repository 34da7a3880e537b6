import { expect, test } from "vitest";
import { ManualClock } from "./manual-clock.ts";
import { memorySyncStore, SyncMemory } from "./memory-sync-store.ts";
import { shareStoreSuite } from "./share-store-suite.ts";
import { ShareAgent } from "./share-world.ts";

const memory = new SyncMemory();
shareStoreSuite({ test, open: async () => memorySyncStore({ memory }) });

test("pools that nobody asks for are forgotten", async () => {
  const clock = new ManualClock();
  const own = new SyncMemory(clock);
  const store = memorySyncStore({ memory: own });
  for (let i = 0; i < 100; i++) {
    await new ShareAgent(store, "n", "a", { name: `pool ${i}`, windowMs: 60_000 }).ask();
    clock.advance(60_000);
  }
  expect(own.shares.size).toBeLessThan(20);
});
