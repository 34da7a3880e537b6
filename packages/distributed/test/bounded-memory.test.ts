import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Hive } from "../src/index.ts";
import { TestHives } from "./support/hives.ts";

let hives: TestHives;
beforeEach(() => {
  hives = new TestHives();
});
afterEach(() => hives.close());

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** Bytes on the heap that are still reachable. */
function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const LARGE = { id: "eu", rpmLimit: 10_000_000, tpmLimit: 4_000_000_000 };

function callMany(hive: Hive, calls: number): void {
  for (let i = 0; i < calls; i++) {
    const { lease } = hive.tryAcquire({ endpoint: "eu", tokens: 10 });
    if (!lease) throw new Error("a call was denied");
    lease.done({ tokens: 5 });
  }
}

test("150,000 calls that settle between two reports are reported like any other", async () => {
  const [hive, other] = (await hives.swarm(2, { endpoints: [LARGE] })) as [Hive, Hive];
  callMany(hive, 150_000);
  await hives.clock.run(3_000);
  expect(other.explain("eu").limits.map(({ used }) => used)).toEqual([150_000, 750_000]);
});

test("a hive without a bus keeps no record of calls that have settled", async () => {
  const hive = await hives.alone({ endpoints: [LARGE] });
  callMany(hive, 20_000);
  const before = heapBytes();
  for (let i = 0; i < 12; i++) {
    callMany(hive, 10_000);
    await hives.clock.run(100);
  }
  expect(heapBytes() - before).toBeLessThan(4_000_000);
});

test("usage that answers show for weeks is forgotten once its window is over", async () => {
  const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 1_000 }] });
  const observe = (times: number): void => {
    for (let i = 0; i < times; i++) {
      hive.observe({ endpoint: "eu", limits: { requests: { limit: 1_000, remaining: i % 2 === 0 ? 100 : 10 } } });
      hives.clock.advance(31_000);
    }
  };
  observe(5_000);
  const before = heapBytes();
  observe(40_000);
  expect(heapBytes() - before).toBeLessThan(1_000_000);
});
