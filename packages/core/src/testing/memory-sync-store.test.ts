import { describe, expect, test } from "vitest";
import { ManualClock } from "./manual-clock.ts";
import { memorySyncStore, SyncMemory } from "./memory-sync-store.ts";
import { syncStoreSuite } from "./sync-store-suite.ts";

describe("stores that share a memory", () => {
  const memory = new SyncMemory();
  syncStoreSuite({ test, open: async () => memorySyncStore({ memory }) });
});

const report = { namespace: "n", agentId: "a", incarnation: "1", windowMs: 60_000, watched: [] };
const of = { kind: "endpoint", id: "eu" };

test("a store without a given memory has a memory of its own", async () => {
  const { window } = await memorySyncStore().sync({ ...report, sequence: 1, window: undefined, counts: [] });
  const counts = [{ of, requests: 1, tokens: 1 }];
  for (const store of [memorySyncStore(), memorySyncStore()])
    expect((await store.sync({ ...report, sequence: 2, window, counts })).sums[0]?.agents).toBe(1);
});

test("past windows are forgotten", async () => {
  const clock = new ManualClock();
  const memory = new SyncMemory(clock);
  const store = memorySyncStore({ memory });
  for (let i = 0; i < 1_000; i++) {
    const counts = [{ of: { kind: "endpoint", id: `e${i}` }, requests: 1, tokens: 1 }];
    await store.sync({ ...report, sequence: i, window: Math.floor(clock.epochMs() / 60_000), counts });
    clock.advance(10_000);
  }
  expect(memory.pages.size).toBeLessThan(20);
});
