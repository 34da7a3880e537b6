import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Hive } from "../../src/index.ts";
import { callOn, TestHives } from "../support/hives.ts";

let hives: TestHives;
beforeEach(() => {
  hives = new TestHives();
});
afterEach(() => hives.close());

const ENDPOINT = "eu";
const takeAll = (hive: Hive | undefined, inputTokens: number, outputTokens: number, most = 1_000): number => {
  let taken = 0;
  while (taken < most && hive?.tryAcquire({ endpoint: ENDPOINT, inputTokens, outputTokens }).allowed) taken++;
  return taken;
};
const used = (hive: Hive | undefined) =>
  Object.fromEntries(hive?.explain(ENDPOINT).limits.map(({ dimension, used }) => [dimension, used]) ?? []);

describe("a learned dimension", () => {
  test("keeps the usage of the other dimensions, and both limits are held", async () => {
    const hive = await hives.alone({ endpoints: [{ id: ENDPOINT, tpmLimit: 10_000 }] });
    expect(takeAll(hive, 500, 500, 4)).toBe(4);
    hive.observe({ endpoint: ENDPOINT, limits: { input_tokens: { limit: 3_000, remaining: 1_000 } } });
    expect(used(hive)).toEqual({ tokens: 4_000, inputTokens: 2_000 });
    expect(takeAll(hive, 500, 500)).toBe(2);
    expect(takeAll(hive, 0, 500)).toBe(8);
    await hives.clock.run(61_000);
    expect(used(hive)).toEqual({ tokens: 0, inputTokens: 0 });
    expect(takeAll(hive, 100, 900)).toBe(10);
  });

  test("at one agent isolates no agent: all hold the limits that they share", async () => {
    const [first, second] = await hives.swarm(2, { endpoints: [{ id: ENDPOINT, tpmLimit: 10_000 }] });
    first?.observe({ endpoint: ENDPOINT, limits: { input_tokens: { limit: 100_000, remaining: 100_000 } } });
    await hives.clock.run(3_000);
    const taken = takeAll(first, 50, 50) + takeAll(second, 50, 50);
    await hives.clock.run(3_000);
    expect(taken + takeAll(first, 50, 50) + takeAll(second, 50, 50)).toBeLessThanOrEqual(100);
    await hives.clock.run(3_000);
    for (const hive of [first, second]) {
      expect(hive?.status()).toMatchObject({ mode: "member", members: 2, ignored: {} });
      expect(used(hive)["tokens"]).toBeGreaterThan(8_000);
    }
    expect(used(first)["tokens"]).toBe(used(second)["tokens"]);
  });

  test("that differs between two agents is applied to itself alone", async () => {
    const [first, second] = await hives.swarm(2, { endpoints: [{ id: ENDPOINT, tpmLimit: 10_000 }] });
    first?.observe({ endpoint: ENDPOINT, limits: { input_tokens: { limit: 100, remaining: 100 } } });
    second?.observe({ endpoint: ENDPOINT, limits: { output_tokens: { limit: 8_000, remaining: 8_000 } } });
    await hives.clock.run(3_000);
    const limits = (hive: Hive | undefined) =>
      hive?.explain(ENDPOINT).limits.map(({ dimension, limit }) => [dimension, limit]);
    expect(limits(first)).toEqual([
      ["tokens", 10_000],
      ["inputTokens", 100],
    ]);
    expect(limits(second)).toEqual([
      ["tokens", 10_000],
      ["outputTokens", 8_000],
    ]);
    expect(takeAll(second, 0, 100, 20)).toBe(20);
    await hives.clock.run(3_000);
    expect(used(first)).toEqual({ tokens: 2_000, inputTokens: 0 });
    for (const hive of [first, second]) expect(hive?.status().ignored).toEqual({});
  });

  test("during a call is not refunded usage that was never counted in it", async () => {
    const [first, second] = await hives.swarm(2, { endpoints: [{ id: ENDPOINT, tpmLimit: 10_000 }] });
    const lease = await first?.acquire({ endpoint: ENDPOINT, inputTokens: 1_000, outputTokens: 1_000 });
    first?.observe({ endpoint: ENDPOINT, limits: { input_tokens: { limit: 5_000, remaining: 5_000 } } });
    lease?.done({ inputTokens: 200, outputTokens: 200 });
    expect(used(first)).toEqual({ tokens: 400, inputTokens: 0 });
    await hives.clock.run(3_000);
    expect(used(second)).toEqual({ tokens: 400 });
    expect(second?.status().ignored).toEqual({});
  });

  test("does not stop the service of waiters", async () => {
    const all = await hives.swarm(2, { endpoints: [{ id: ENDPOINT, rpmLimit: 60 }] });
    const sent: { at: number; tokens: number }[] = [];
    for (const hive of all) for (let i = 0; i < 5; i++) void callOn(hive, hives.clock, { endpoint: ENDPOINT }, sent);
    await hives.clock.run(60_000);
    for (const hive of all)
      hive.observe({ endpoint: ENDPOINT, limits: { output_tokens: { limit: 1e6, remaining: 1e6 } } });
    const before = sent.length;
    await hives.clock.run(120_000);
    expect(sent.length - before).toBeGreaterThan(100);
    expect(sent.length - before).toBeLessThanOrEqual(122);
  });
});

test('a learned limit as large as the stand-in for "unlimited" is a limit like any other', async () => {
  const capacities: number[] = [];
  const onCapacityChange = (update: { newCapacity: number }) => capacities.push(update.newCapacity);
  const [first, second] = await hives.swarm(2, { endpoints: [{ id: ENDPOINT }], onCapacityChange });
  for (const hive of [first, second])
    hive?.observe({ endpoint: ENDPOINT, limits: { requests: { limit: 1e12, remaining: 1e12 } } });
  first?.announceReduced(ENDPOINT, "429");
  await hives.clock.run(5_000);
  expect(capacities).toEqual([5e11, 5e11]);
});

describe("a removed dimension", () => {
  test("that is added again keeps its totals: no peer sees totals decrease", async () => {
    const withInput = [{ id: ENDPOINT, tpmLimit: 10_000, inputTpmLimit: 5_000 }];
    const [first, second] = await hives.swarm(2, { endpoints: withInput });
    expect(takeAll(first, 100, 100, 10)).toBe(10);
    await hives.clock.run(2_000);
    first?.reconfigure({ endpoints: [{ id: ENDPOINT, tpmLimit: 10_000 }] });
    await hives.clock.run(2_000);
    expect(used(first)).toEqual({ tokens: 2_000 });
    first?.reconfigure({ endpoints: withInput });
    expect(takeAll(first, 100, 100, 5)).toBe(5);
    await hives.clock.run(2_000);
    expect(used(second)).toEqual({ tokens: 3_000, inputTokens: 1_500 });
    for (const hive of [first, second]) expect(hive?.status()).toMatchObject({ mode: "member", ignored: {} });
  });

  test("leaves no usage to another one in its place", async () => {
    const hive = await hives.alone({ endpoints: [{ id: ENDPOINT, tpmLimit: 10_000, inputTpmLimit: 1_000 }] });
    expect(takeAll(hive, 200, 100)).toBe(5);
    hive.reconfigure({ endpoints: [{ id: ENDPOINT, tpmLimit: 10_000, outputTpmLimit: 1_000 }] });
    expect(used(hive)).toEqual({ tokens: 1_500, outputTokens: 0 });
  });

  test("during a call is left out when the call is settled", async () => {
    const hive = await hives.alone({ endpoints: [{ id: ENDPOINT, tpmLimit: 10_000, inputTpmLimit: 1_000 }] });
    const lease = await hive.acquire({ endpoint: ENDPOINT, inputTokens: 500, outputTokens: 500 });
    hive.reconfigure({ endpoints: [{ id: ENDPOINT, tpmLimit: 10_000 }] });
    lease.done({ inputTokens: 100, outputTokens: 100 });
    expect(used(hive)).toEqual({ tokens: 200 });
  });
});
