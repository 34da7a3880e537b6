import type { SyncStore } from "@hivepace/core";
import { memorySyncStore, SyncMemory, seededRandom } from "@hivepace/core/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Hive, HiveOptions, HiveRequest } from "../src/index.ts";
import { callOn, TestHives, watch } from "./support/hives.ts";
import { collectWarnings } from "./support/warnings.ts";

let hives: TestHives;
beforeEach(() => {
  hives = new TestHives();
});
afterEach(async () => {
  await hives.close();
  expect(hives.clock.pending).toBe(0);
});

const WINDOW_MS = 60_000;
const options: HiveOptions = {
  endpoints: [{ id: "eu", rpmLimit: 100_000 }],
  keys: { acme: { rpmLimit: 100, tpmLimit: 10_000 } },
};
const ACME: HiveRequest = { endpoint: "eu", key: "acme", tokens: 1 };

/** Acquires until a denial, and returns the number of grants. */
const take = (hive: Hive, most = 10_000, request = ACME): number => {
  let taken = 0;
  while (taken < most && hive.tryAcquire(request).allowed) taken++;
  return taken;
};
/** The largest number of calls in any window. */
const largest = (sent: readonly { at: number }[]): number => {
  const times = sent.map(({ at }) => at).sort((a, b) => a - b);
  let [most, first] = [0, 0];
  for (const [i, at] of times.entries()) {
    while ((times[first] as number) <= at - WINDOW_MS) first++;
    most = Math.max(most, i - first + 1);
  }
  return most;
};
/** Lets every hive call as fast as it may, and returns all calls. */
const callAll = async (all: readonly Hive[], request: HiveRequest, forMs: number) => {
  const sent = all.map(() => [] as { at: number; tokens: number }[]);
  for (const [i, hive] of all.entries())
    void callOn(hive, hives.clock, request, sent[i] as { at: number; tokens: number }[]);
  await hives.clock.run(forMs);
  return sent;
};

describe("over a bus", () => {
  test("a waiter that is not covered by the claim of another one is served as well", async () => {
    const limits = { endpoints: [{ id: "eu", rpmLimit: 1 }], keys: { acme: { rpmLimit: 1 } } };
    const [hive] = [await hives.join(limits), await hives.join(limits)];
    // The first call claims the key's limit. The second, which also needs tokens, overtakes it by priority.
    const first = watch(hive.acquire({ ...ACME, tokens: 0, priority: -3 }));
    const second = watch(hive.acquire({ ...ACME, tokens: 3_000 }));
    await hives.clock.run(10_000);
    expect([first.lease, second.lease].filter(Boolean)).toHaveLength(1);
    await hives.clock.run(2 * WINDOW_MS);
    expect([first.lease, second.lease].filter(Boolean)).toHaveLength(2);
  });

  test("twenty hives grant no more of a key in one burst than its limit", async () => {
    const all = await hives.swarm(20, options);
    const taken = all.reduce((sum, hive) => sum + take(hive), 0);
    expect(taken).toBeLessThanOrEqual(100);
    expect(taken).toBeGreaterThan(50);
  });

  test("a key's limit holds in every window, is used, and is shared fairly", async () => {
    const all = await hives.swarm(6, options);
    const sent = await callAll(all, ACME, 3 * WINDOW_MS);
    expect(largest(sent.flat())).toBeLessThanOrEqual(100);
    expect(sent.flat().length).toBeGreaterThan(0.93 * 3 * 100);
    for (const { length } of sent) expect(length).toBeGreaterThan(20);
  });

  test("tokens of a key are limited in the same way, and unused tokens are available again", async () => {
    const all = await hives.swarm(5, options);
    const spent = await callAll(all, { ...ACME, tokens: 500 }, 3 * WINDOW_MS);
    expect(largest(spent.flat())).toBeLessThanOrEqual(20);
    expect(spent.flat().length).toBeGreaterThan(45);
  });

  test("a wait for a key that others have used up ends with a grant when their usage leaves the window", async () => {
    const [first, second] = (await hives.swarm(2, options)) as [Hive, Hive];
    for (let i = 0; i < 100; i++) {
      watch(first.acquire(ACME));
      await hives.clock.run(50);
    }
    await hives.clock.run(5_000);
    const denied = second.tryAcquire({ ...ACME, tokens: 100 });
    expect(denied).toMatchObject({ allowed: false, reason: "rate", limitedBy: "key-rpm", limitRpm: 99 });
    const waiting = watch(second.acquire(ACME));
    await hives.clock.run(1_000);
    expect(waiting).toEqual({ lease: undefined, error: undefined });
    await hives.clock.run(WINDOW_MS);
    expect(waiting.lease).toBeDefined();
  });

  test("a hive that uses a key for the first time knows the usage of the others", async () => {
    const [first, second] = (await hives.swarm(2, options)) as [Hive, Hive];
    for (let i = 0; i < 90; i++) {
      watch(first.acquire(ACME));
      await hives.clock.run(50);
    }
    await hives.clock.run(10_000);
    expect(second.status().activeKeys).toBe(0);
    expect(take(second)).toBeLessThanOrEqual(10);
  });

  test("limits of `limitsForKey` apply to all hives together, too", async () => {
    const limitsForKey = (key: string) => (key.startsWith("team-") ? { rpmLimit: 40 } : undefined);
    const all = await hives.swarm(4, { ...options, limitsForKey });
    const sent = await callAll(all, { ...ACME, key: "team-7" }, 2 * WINDOW_MS);
    expect(largest(sent.flat())).toBeLessThanOrEqual(40);
    expect(sent.flat().length).toBeGreaterThan(70);
    expect(take(all[0] as Hive, 500, { ...ACME, key: "guest" })).toBe(500);
  });

  test("a key delays neither other keys nor calls without one", async () => {
    const [hive] = (await hives.swarm(3, options)) as [Hive];
    for (let i = 0; i < 150; i++) watch(hive.acquire(ACME));
    await hives.clock.run(5_000);
    const others = [undefined, "rich"].map((key) => watch(hive.acquire({ ...ACME, key })));
    await hives.clock.run(1);
    for (const { lease } of others) expect(lease).toBeDefined();
  });

  test("a request does not overtake waiters of the same key, at any endpoint", async () => {
    const two = { ...options, endpoints: [{ id: "eu" }, { id: "us" }], keys: { acme: { tpmLimit: 1_000 } } };
    const [hive] = (await hives.swarm(1, two)) as [Hive];
    take(hive, 9, { ...ACME, tokens: 100 });
    const large = watch(hive.acquire({ ...ACME, tokens: 500 }));
    await hives.clock.run(1_000);
    expect(hive.tryAcquire({ endpoint: "us", key: "acme", tokens: 1 })).toMatchObject({
      allowed: false,
      limitedBy: "key-tpm",
    });
    await hives.clock.run(WINDOW_MS);
    expect(large.lease).toBeDefined();
  });

  test("calls that need a contended key and a contended endpoint all end", async () => {
    const tight = { endpoints: [{ id: "eu", rpmLimit: 2 }], keys: { a: { rpmLimit: 1 }, b: { rpmLimit: 1 } } };
    const all = await hives.swarm(4, tight);
    const waits = all.flatMap((hive) => ["a", "b"].map((key) => watch(hive.acquire({ endpoint: "eu", key }))));
    await hives.clock.run(12 * WINDOW_MS);
    expect(waits.filter(({ lease }) => lease).length).toBe(8);
  });

  test("a crashed hive's usage of a key stays counted, and its share becomes free", async () => {
    const all = await hives.swarm(3, options);
    const [, second, third] = all as [Hive, Hive, Hive];
    const sent = await callAll(all, ACME, WINDOW_MS);
    await (all[0] as Hive).close();
    await hives.clock.run(3 * WINDOW_MS);
    expect(largest(sent.flat())).toBeLessThanOrEqual(100);
    const before = sent.flat().length;
    await hives.clock.run(WINDOW_MS);
    expect(sent.flat().length - before).toBeGreaterThan(90);
    await Promise.all([second.close(), third.close()]);
  });

  test("isolated hives together use no more of a key than its limit", async () => {
    const all = await hives.swarm(5, { ...options, isolation: "available" });
    for (const hive of all) take(hive, 3);
    await hives.clock.run(2_000);
    hives.broker.stop();
    const sent = await callAll(all, ACME, 3 * WINDOW_MS);
    hives.broker.start();
    expect(largest(sent.flat())).toBeLessThanOrEqual(100);
    expect(sent.flat().length).toBeGreaterThan(100);
  });
});

describe("through a store that grants limits", () => {
  const join = (memory: SyncMemory, more: Partial<HiveOptions> = {}) =>
    hives.alone({ ...options, sync: memorySyncStore({ memory }), aggregation: "store", namespace: "test", ...more });

  test("a key's limit holds over all hives without a bus", async () => {
    const memory = new SyncMemory(hives.clock);
    const all = [];
    for (let i = 0; i < 6; i++) all.push(await join(memory));
    await hives.clock.run(3_000);
    const sent = await callAll(all, ACME, 3 * WINDOW_MS);
    expect(largest(sent.flat())).toBeLessThanOrEqual(100);
    expect(sent.flat().length).toBeGreaterThan(0.9 * 3 * 100);
    for (const { length } of sent) expect(length).toBeGreaterThan(25);
  });

  test("a hive that only tries gets its part of a key", async () => {
    const memory = new SyncMemory(hives.clock);
    const [first, second] = [await join(memory), await join(memory)];
    await hives.clock.run(3_000);
    const sent: { at: number; tokens: number }[] = [];
    void callOn(first, hives.clock, ACME, sent);
    let tried = 0;
    for (let ms = 0; ms < 2 * WINDOW_MS; ms += 100) {
      if (second.tryAcquire(ACME).allowed) tried++;
      await hives.clock.run(100);
    }
    expect(tried).toBeGreaterThan(40);
    expect(sent.length + tried).toBeLessThanOrEqual(300);
  });

  test("a waiter claims the limits that its key gets while it waits", async () => {
    const hive = await join(new SyncMemory(hives.clock), { keys: { acme: { rpmLimit: 1 } } });
    await hives.clock.run(3_000);
    hive.tryAcquire(ACME).lease?.done();
    const waiting = watch(hive.acquire(ACME));
    await hives.clock.run(100);
    hive.reconfigure({ keys: { acme: { maxInFlight: 1 } } });
    await hives.clock.run(10_000);
    expect(waiting.lease).toBeDefined();
  });

  test("a store without a bus is used by default", async () => {
    const memory = new SyncMemory(hives.clock);
    const all = [await join(memory, { aggregation: undefined }), await join(memory, { aggregation: undefined })];
    await hives.clock.run(3_000);
    const sent = await callAll(all, ACME, 3 * WINDOW_MS);
    expect(largest(sent.flat())).toBeLessThanOrEqual(100);
    expect(sent.flat().length).toBeGreaterThan(0.9 * 3 * 100);
  });

  test.each([
    ["counts only", { allocate: undefined }, undefined],
    ["is not to hand out limits", {}, "bus"],
  ] as const)("a store that %s leaves keys to each process, with a warning", async (_, less, aggregation) => {
    const warnings = collectWarnings();
    const store = memorySyncStore({ memory: new SyncMemory(hives.clock) });
    const sync = { ...store, sync: store.sync.bind(store), allocate: store.allocate.bind(store), ...less } as SyncStore;
    const alone = () => hives.alone({ ...options, sync, aggregation, namespace: "test" });
    const all = [await alone(), await alone()];
    await hives.clock.run(1);
    warnings.stop();
    expect(warnings.codes).toEqual(["HIVEPACE_KEYS_LOCAL", "HIVEPACE_KEYS_LOCAL"]);
    expect(all.map((hive) => take(hive))).toEqual([100, 100]);
  });
});

describe("only keys in use have quotas", () => {
  const everyone = { endpoints: options.endpoints, limitsForKey: () => ({ rpmLimit: 5 }) };

  test("twelve thousand keys in succession leave as many quotas as the last windows used", async () => {
    const hive = await hives.alone({ ...everyone, windowMs: 1_000 });
    for (let i = 0; i < 12_000; i++) {
      hive.tryAcquire({ endpoint: "eu", key: `user-${i}`, tokens: 1 }).lease?.done();
      if (i % 100 === 99) hives.clock.jump(50);
    }
    expect(hive.status().activeKeys).toBeLessThan(4_500);
  });

  test("in a swarm, messages and memory depend on the keys in use", async () => {
    const [first, second] = (await hives.swarm(2, { ...everyone, windowMs: 2_000 })) as [Hive, Hive];
    for (let i = 0; i < 600; i++) {
      for (const hive of [first, second])
        hive.tryAcquire({ endpoint: "eu", key: `user-${i}`, tokens: 1 }).lease?.done();
      await hives.clock.run(100);
    }
    for (const hive of [first, second]) {
      expect(hive.status().activeKeys).toBeLessThan(100);
      expect(hive.status().ignored).toEqual({});
    }
  });

  test("a key whose call is still under way keeps its quota, and the call settles there", async () => {
    const hive = await hives.alone({
      endpoints: options.endpoints,
      limitsForKey: () => ({ tpmLimit: 1_000 }),
      windowMs: 1_000,
    });
    const { lease } = hive.tryAcquire({ endpoint: "eu", key: "slow", tokens: 10 });
    for (let i = 0; i < 100; i++) {
      hive.tryAcquire({ endpoint: "eu", key: `user-${i}`, tokens: 1 }).lease?.done();
      await hives.clock.run(100);
    }
    lease?.done({ tokens: 1_000 });
    expect(hive.tryAcquire({ endpoint: "eu", key: "slow", tokens: 20 })).toMatchObject({
      allowed: false,
      limitedBy: "key-tpm",
    });
  });

  test("keys with similar quota names are distinct", async () => {
    const hive = await hives.alone({ ...everyone, limitsForKey: () => ({ rpmLimit: 1 }) });
    const long = "x".repeat(400);
    const names = ["a/b", "a%2Fb", "a@60000", "@key/a", long, `${long}y`];
    for (const key of names) expect(take(hive, 9, { endpoint: "eu", key, tokens: 1 })).toBe(1);
  });
});

describe("limits that change while the hive runs", () => {
  test("keep the counts", async () => {
    const [first, second] = (await hives.swarm(2, options)) as [Hive, Hive];
    expect(take(first, 30)).toBe(30);
    await hives.clock.run(3_000);
    for (const hive of [first, second]) hive.reconfigure({ keys: { acme: { rpmLimit: 40 } } });
    await hives.clock.run(3_000);
    expect(take(second) + take(first)).toBeLessThanOrEqual(10);
  });

  test("serve waiters as soon as there is capacity, also when the limit is removed", async () => {
    const hive = await hives.alone(options);
    take(hive, 100);
    const waits = [1, 2, 3].map(() => watch(hive.acquire(ACME)));
    await hives.clock.run(10);
    hive.reconfigure({ keys: { acme: { rpmLimit: 102 } } });
    await hives.clock.run(10);
    expect(waits.map(({ lease }) => lease !== undefined)).toEqual([true, true, false]);
    hive.reconfigure({ keys: {} });
    await hives.clock.run(10);
    expect(waits[2]?.lease).toBeDefined();
    expect(hive.status().activeKeys).toBe(0);
  });

  test("a limit of 0 admits nothing, and denies at once", async () => {
    const hive = await hives.alone({ ...options, keys: { acme: { rpmLimit: 0 } } });
    expect(hive.tryAcquire(ACME)).toMatchObject({ allowed: false, reason: "too-large", limitedBy: "key-rpm" });
    await expect(hive.acquire(ACME)).rejects.toMatchObject({ code: "CAPACITY_EXHAUSTED", reason: "too-large" });
  });
});

test("an aborted or timed out wait for a key leaves no claim on it", async () => {
  const [first, second] = (await hives.swarm(2, { ...options, keys: { acme: { rpmLimit: 10 } } })) as [Hive, Hive];
  const sent = await callAll([first], ACME, 10_000);
  const controller = new AbortController();
  const waits = [
    watch(second.acquire({ ...ACME, signal: controller.signal })),
    watch(second.acquire({ ...ACME, timeoutMs: 5_000 })),
  ];
  await hives.clock.run(3_000);
  controller.abort(new Error("gone"));
  await hives.clock.run(3_000);
  expect(waits[0]?.error).toMatchObject({ message: "gone" });
  expect(waits[1]?.error).toMatchObject({ code: "CAPACITY_EXHAUSTED", reason: "timeout" });
  const before = sent.flat().length;
  await hives.clock.run(2 * WINDOW_MS);
  expect(sent.flat().length - before).toBeGreaterThanOrEqual(18);
});

test("in observe mode, calls above a key's limit are sent and counted", async () => {
  const hive = await hives.alone({ ...options, mode: "observe" });
  const random = seededRandom(1);
  for (let i = 0; i < 130; i++) hive.tryAcquire({ ...ACME, tokens: 1 + Math.floor(random() * 3) }).lease?.done();
  expect(hive.status().observed).toMatchObject({ decisions: 130, wouldHaveWaited: 30 });
});
