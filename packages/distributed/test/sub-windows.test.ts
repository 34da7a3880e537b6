import type { Lease } from "@hivepace/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Hive, HiveEndpoint } from "../src/index.ts";
import { TestHives, watch } from "./support/hives.ts";
import { type TestAgent, TestSwarm } from "./support/swarm.ts";

let hives: TestHives;
beforeEach(() => {
  hives = new TestHives();
});
afterEach(() => hives.close());

const eu = { id: "eu", rpmLimit: 600 } as const;
const perSecond = { dimension: "requests", limit: 10, windowMs: 1_000 } as const;

/** The number of calls that are granted without a wait. */
function grantedAtOnce(hive: Hive, tokens?: number): number {
  let count = 0;
  while (count < 2_000 && hive.tryAcquire({ endpoint: "eu", ...(tokens ? { tokens } : {}) }).allowed) count++;
  return count;
}

describe("limits over shorter windows", () => {
  test("hold in every such window, while the longer one has room", async () => {
    const hive = await hives.alone({ endpoints: [{ ...eu, limits: [perSecond] }] });
    expect(grantedAtOnce(hive)).toBe(10);
    expect(hive.tryAcquire({ endpoint: "eu" })).toMatchObject({ allowed: false, limitedBy: "swarm-rpm" });
    const { retryAfterMs = 0 } = hive.tryAcquire({ endpoint: "eu" });
    expect(retryAfterMs).toBeGreaterThan(900);
    expect(retryAfterMs).toBeLessThanOrEqual(1_010);
    await hives.clock.run(retryAfterMs);
    expect(grantedAtOnce(hive)).toBe(10);
  });

  test.each([2, 10, 50])("hold among %i agents that all start at once", async (agents) => {
    const all = await hives.swarm(agents, { endpoints: [{ ...eu, limits: [perSecond] }] });
    const sentAt: number[] = [];
    for (const hive of all)
      for (let i = 0; i < 4; i++)
        hive.acquire({ endpoint: "eu" }).then(
          (lease: Lease) => {
            sentAt.push(hives.clock.now());
            lease.done();
          },
          () => {},
        );
    await hives.clock.run(12_000);
    expect(sentAt.length).toBeGreaterThanOrEqual(Math.min(agents * 4, 95));
    for (let i = 10; i < sentAt.length; i++)
      expect((sentAt[i] as number) - (sentAt[i - 10] as number)).toBeGreaterThanOrEqual(1_000);
  });

  test("a burst is refilled at the rate of the limit", async () => {
    const hive = await hives.alone({ endpoints: [{ ...eu, burst: { requests: 20 } }] });
    expect(grantedAtOnce(hive)).toBe(20);
    await hives.clock.run(2_010);
    expect(grantedAtOnce(hive)).toBe(20);
    expect(hive.explain("eu").limits).toMatchObject([
      { limit: 600, windowMs: 60_000 },
      { limit: 20, windowMs: 2_000, isLearned: false, used: 20 },
    ]);
  });

  test("each dimension has its own", async () => {
    const endpoint: HiveEndpoint = {
      ...eu,
      tpmLimit: 60_000,
      burst: { tokens: 5_000 },
      limits: [perSecond],
    };
    const hive = await hives.alone({ endpoints: [endpoint] });
    expect(grantedAtOnce(hive, 1_000)).toBe(5);
    await hives.clock.run(5_100);
    expect(grantedAtOnce(hive, 1)).toBe(10);
  });

  test("a call that exceeds one is rejected at once", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", tpmLimit: 60_000, burst: { tokens: 5_000 } }] });
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 5_001 })).toMatchObject({ allowed: false, reason: "too-large" });
    await expect(hive.acquire({ endpoint: "eu", tokens: 5_001 })).rejects.toMatchObject({ reason: "too-large" });
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 5_000 }).allowed).toBe(true);
  });

  test("can be added, changed and removed while calls wait", async () => {
    const hive = await hives.alone({ endpoints: [{ ...eu, limits: [perSecond] }] });
    expect(grantedAtOnce(hive)).toBe(10);
    const waiting = watch(hive.acquire({ endpoint: "eu" }));
    await hives.clock.run(100);
    expect(waiting.lease).toBeUndefined();
    hive.reconfigure({ endpoints: [eu] });
    await hives.clock.run(10);
    expect(waiting.lease).toBeDefined();
    hive.addEndpoint({ ...eu, limits: [{ ...perSecond, limit: 12 }] } as HiveEndpoint);
    // The usage of the last second counts.
    expect(grantedAtOnce(hive)).toBe(1);
  });

  test("without a limit over the whole window, the longest of them is the endpoint's limit", async () => {
    const limits = [perSecond, { dimension: "requests", limit: 50, windowMs: 10_000 }] as const;
    const hive = await hives.alone({ endpoints: [{ id: "eu", limits }] });
    expect(grantedAtOnce(hive)).toBe(10);
    expect(hive.explain("eu").limits).toMatchObject([
      { limit: 50, windowMs: 10_000, isLearned: false },
      { limit: 10, windowMs: 1_000, isLearned: false },
    ]);
  });

  test("a limit over a longer window is enforced beside the others", async () => {
    const hive = await hives.alone({
      endpoints: [{ ...eu, limits: [{ dimension: "requests", limit: 7, windowMs: 3_600_000 }] }],
    });
    expect(grantedAtOnce(hive)).toBe(7);
    await hives.clock.run(61_000);
    expect(grantedAtOnce(hive)).toBe(0);
  });

  test("an isolated agent keeps to its part of them", async () => {
    const [hive] = (await hives.swarm(2, { endpoints: [{ ...eu, limits: [perSecond] }] })) as [Hive];
    await hives.clock.run(5_000);
    hives.broker.stop();
    await hives.clock.run(10_000);
    expect(hive.status().mode).toBe("isolated");
    expect(grantedAtOnce(hive)).toBeLessThanOrEqual(5);
  });
});

describe("options", () => {
  const cases: readonly [string, Partial<Record<keyof HiveEndpoint, unknown>>][] = [
    ["endpoints[0].limits", { limits: {} }],
    ["endpoints[0].limits[0]", { limits: [5] }],
    ["endpoints[0].limits[0].dimension", { limits: [{ dimension: "calls", limit: 1, windowMs: 1 }] }],
    ["endpoints[0].limits[0].limit", { limits: [{ dimension: "requests", limit: 0, windowMs: 1 }] }],
    ["endpoints[0].limits[0].windowMs", { limits: [{ dimension: "requests", limit: 1, windowMs: NaN }] }],
    ["endpoints[0].limits[0].window", { limits: [{ ...perSecond, window: 1 }] }],
    ["endpoints[0].burst", { burst: 5 }],
    ["endpoints[0].burst.requests", { burst: { requests: -1 } }],
    ["endpoints[0].burst.request", { burst: { request: 1 } }],
    ["endpoints[0].burst.tokens", { burst: { tokens: 5 } }],
  ];
  test.each(cases)("%s is checked", async (option, wrong) => {
    await expect(hives.alone({ endpoints: [{ ...eu, ...wrong } as HiveEndpoint] })).rejects.toMatchObject({
      code: "INVALID_CONFIG",
      option,
    });
    const hive = await hives.alone({ endpoints: [eu] });
    expect(() => hive.reconfigure({ endpoints: [{ ...eu, ...wrong } as HiveEndpoint] })).toThrow(option);
  });
});

describe("a distributed limiter", () => {
  let swarm: TestSwarm;
  beforeEach(() => {
    swarm = new TestSwarm();
  });
  afterEach(() => swarm.close());

  test("has shorter windows too, shows them, and rejects wrong ones", async () => {
    const { limiter } = (await swarm.join()) as TestAgent;
    limiter.setCapacity("api", 600, 60_000, { limits: [{ limit: 10, windowMs: 1_000 }] });
    await swarm.clock.run(3_000);
    let granted = 0;
    while (granted < 100 && limiter.tryAcquire("api")) granted++;
    expect(granted).toBe(10);
    expect(limiter.status().resources[0]?.windows).toEqual([
      { limit: 10, windowMs: 1_000, isLearned: false, used: 10 },
    ]);
    expect(limiter.getCapacity("api")?.available).toBe(0);
    for (const limits of [[{ limit: 0, windowMs: 1 }], [{ limit: 1, windowMs: 60_000 }], [{ limit: 1 }], [1], 1])
      expect(() => limiter.setCapacity("api", 600, 60_000, { limits } as never)).toThrow(/limits/);
    const { limiter: none } = await swarm.join({ namespace: "another", sharing: "none" });
    expect(() => none.setCapacity("api", 600, 60_000, { limits: [{ limit: 1, windowMs: 1_000 }] })).toThrow(/sharing/);
  });
});
