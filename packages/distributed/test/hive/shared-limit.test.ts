import { describe, expect, test } from "vitest";
import type { Hive } from "../../src/index.ts";
import { eachTest } from "../support/each-test.ts";
import { callOn } from "../support/hives.ts";

const world = eachTest();

describe("one limit for all", () => {
  const limit = { id: "eu", rpmLimit: 200, tpmLimit: 20_000 };

  test("requests and tokens of all world.hives together stay within the limit, and use it", async () => {
    const all = await world.hives.swarm(4, { endpoints: [limit], windowMs: 10_000 });
    const sent: { at: number; tokens: number }[] = [];
    for (const hive of all)
      for (let i = 0; i < 8; i++) void callOn(hive, world.hives.clock, { endpoint: "eu", tokens: 150 }, sent);
    await world.hives.clock.run(60_000);
    // The token limit binds: 20,000 tokens allow 133 calls of 150.
    expect(largest(sent, 10_000)).toBeLessThanOrEqual(20_000);
    expect(sent.length).toBeGreaterThan(0.85 * 6 * 133);
  });

  test("nearly the whole limit of an idle hive is available to a busy one", async () => {
    const [busy] = (await world.hives.swarm(3, { endpoints: [limit], windowMs: 10_000 })) as [Hive];
    const sent: { at: number; tokens: number }[] = [];
    for (let i = 0; i < 20; i++) void callOn(busy, world.hives.clock, { endpoint: "eu", tokens: 10 }, sent);
    await world.hives.clock.run(40_000);
    expect(sent.length).toBeGreaterThan(0.85 * 4 * 200);
  });

  test("a hive that leaves sends a goodbye: its share is available at once", async () => {
    const [first, second] = (await world.hives.swarm(2, { endpoints: [limit], windowMs: 10_000 })) as [Hive, Hive];
    expect(second.explain("eu").limits[0]?.share).toBeLessThan(120);
    await first.close();
    await world.hives.clock.run(100);
    expect(second.status().members).toBe(1);
    expect(second.explain("eu").limits[0]?.share).toBeGreaterThan(190);
  });

  test("hives that only try get their share too", async () => {
    const [trier, caller] = (await world.hives.swarm(2, { endpoints: [limit], windowMs: 10_000 })) as [Hive, Hive];
    for (let i = 0; i < 20; i++) void callOn(caller, world.hives.clock, { endpoint: "eu", tokens: 1 }, []);
    let granted = 0;
    for (let i = 0; i < 800; i++) {
      const { lease } = trier.tryAcquire({ endpoint: "eu", tokens: 1 });
      if (lease) granted++;
      lease?.done();
      await world.hives.clock.run(50);
    }
    expect(granted).toBeGreaterThan(0.7 * 400);
  });
});

function largest(sent: readonly { at: number; tokens: number }[], windowMs: number): number {
  const sorted = [...sent].sort((a, b) => a.at - b.at);
  let most = 0;
  let sum = 0;
  let first = 0;
  for (const { at, tokens } of sorted) {
    sum += tokens;
    for (let old = sorted[first]; old && old.at <= at - windowMs; old = sorted[first]) {
      sum -= old.tokens;
      first++;
    }
    most = Math.max(most, sum);
  }
  return most;
}
