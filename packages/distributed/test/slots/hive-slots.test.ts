import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Hive } from "../../src/index.ts";
import { TestHives, watch } from "../support/hives.ts";

let hives: TestHives;
beforeEach(() => {
  hives = new TestHives();
});
afterEach(() => hives.close());

test("without a bus a hive holds its own calls to the slots, and the next waiter takes a freed one", async () => {
  const hive = await hives.alone({ endpoints: [{ id: "eu", maxInFlight: 2 }] });
  const first = await hive.acquire({ endpoint: "eu" });
  await hive.acquire({ endpoint: "eu" });
  const third = watch(hive.acquire({ endpoint: "eu" }));
  await hives.clock.run(1_000);
  expect(third.lease).toBeUndefined();
  expect(hive.tryAcquire({ endpoint: "eu" })).toMatchObject({
    allowed: false,
    reason: "in-flight",
    limitedBy: "swarm-in-flight",
  });
  first.done();
  await hives.clock.run(0);
  expect(third.lease).toBeDefined();
  expect(hive.explain("eu").slots).toMatchObject({ limit: 2, used: 2, usedHere: 2 });
});

test("two agents share one slot, and it changes hands", async () => {
  const endpoints = [{ id: "eu", maxInFlight: 1 }];
  const [one, other] = (await hives.swarm(2, { endpoints })) as [
    Awaited<ReturnType<TestHives["join"]>>,
    Awaited<ReturnType<TestHives["join"]>>,
  ];
  const held = watch(one.acquire({ endpoint: "eu" }));
  await hives.clock.run(2_000);
  expect(held.lease).toBeDefined();
  const waiting = watch(other.acquire({ endpoint: "eu" }));
  await hives.clock.run(2_000);
  expect(waiting.lease).toBeUndefined();
  expect(other.explain("eu")).toMatchObject({
    waiting: 1,
    limitedBy: "swarm-in-flight",
    slots: { used: 1, usedHere: 0 },
  });
  held.lease?.done();
  await hives.clock.run(20);
  expect(waiting.lease).toBeDefined();
});

test.each(["done", "cancel", "refused"] as const)("a lease that ends by %s frees its slot once", async (how) => {
  const hive = await hives.alone({ endpoints: [{ id: "eu", maxInFlight: 2, rpmLimit: 1_000 }] });
  const lease = await hive.acquire({ endpoint: "eu" });
  await hive.acquire({ endpoint: "eu" });
  if (how === "refused") lease.refused({ reason: "busy", kind: "overload" });
  else lease[how]();
  lease.done();
  lease.cancel();
  expect(hive.explain("eu").slots?.used).toBe(1);
});

test("a lease that expires frees its slot, and one that is renewed keeps it", async () => {
  const hive = await hives.alone({ endpoints: [{ id: "eu", maxInFlight: 2 }], leaseMs: 10_000 });
  await hive.acquire({ endpoint: "eu" });
  const renewed = await hive.acquire({ endpoint: "eu" });
  await hives.clock.run(6_000);
  renewed.renew();
  await hives.clock.run(6_000);
  expect(hive.explain("eu").slots?.used).toBe(1);
  await hives.clock.run(6_000);
  expect(hive.explain("eu").slots?.used).toBe(0);
});

test("models of a pool share their slots, and another model has its own", async () => {
  const endpoints = [
    { id: "eu", models: ["a", "b"], maxInFlight: 1 },
    { id: "eu", model: "c", maxInFlight: 1 },
  ];
  const hive = await hives.alone({ endpoints });
  expect(hive.tryAcquire({ endpoint: "eu", model: "a" }).allowed).toBe(true);
  expect(hive.tryAcquire({ endpoint: "eu", model: "b" }).limitedBy).toBe("swarm-in-flight");
  expect(hive.tryAcquire({ endpoint: "eu", model: "c" }).allowed).toBe(true);
});

test("a tenant key has slots over all endpoints and agents, and its waiters delay no other key", async () => {
  const endpoints = [{ id: "eu" }, { id: "us" }];
  const [one, other] = (await hives.swarm(2, { endpoints, keys: { acme: { maxInFlight: 1 } } })) as [
    Awaited<ReturnType<TestHives["join"]>>,
    Awaited<ReturnType<TestHives["join"]>>,
  ];
  const held = watch(one.acquire({ endpoint: "eu", key: "acme" }));
  await hives.clock.run(2_000);
  expect(held.lease).toBeDefined();
  const waiting = watch(other.acquire({ endpoint: "us", key: "acme" }));
  await hives.clock.run(2_000);
  expect(waiting.lease).toBeUndefined();
  expect(other.tryAcquire({ endpoint: "us", key: "acme" }).limitedBy).toBe("key-in-flight");
  expect(other.tryAcquire({ endpoint: "us" }).allowed).toBe(true);
  held.lease?.done();
  await hives.clock.run(2_000);
  expect(waiting.lease).toBeDefined();
});

test("a call takes from a rate and from the slots together, or from neither", async () => {
  const hive = await hives.alone({ endpoints: [{ id: "eu", maxInFlight: 1, rpmLimit: 10 }] });
  expect(hive.tryAcquire({ endpoint: "eu" }).allowed).toBe(true);
  for (let i = 0; i < 20; i++) expect(hive.tryAcquire({ endpoint: "eu" }).limitedBy).toBe("swarm-in-flight");
  expect(hive.explain("eu").limits[0]?.used).toBe(1);
});

test("slots may be changed while calls are under way", async () => {
  const hive = await hives.alone({ endpoints: [{ id: "eu", maxInFlight: 1 }] });
  const first = await hive.acquire({ endpoint: "eu" });
  const second = watch(hive.acquire({ endpoint: "eu" }));
  hive.reconfigure({ endpoints: [{ id: "eu", maxInFlight: 2 }] });
  await hives.clock.run(0);
  expect(second.lease).toBeDefined();
  hive.reconfigure({ endpoints: [{ id: "eu", maxInFlight: 1 }] });
  first.done();
  expect(hive.tryAcquire({ endpoint: "eu" }).allowed).toBe(false);
  hive.reconfigure({ endpoints: [{ id: "eu" }] });
  expect(hive.tryAcquire({ endpoint: "eu" }).allowed).toBe(true);
  expect(hive.explain("eu").slots).toBeUndefined();
});

test("an agent that only observes counts slots and never waits for one", async () => {
  const hive = await hives.alone({ endpoints: [{ id: "eu", maxInFlight: 1 }], mode: "observe" });
  const leases = await Promise.all([1, 2, 3].map(() => hive.acquire({ endpoint: "eu" })));
  expect(hive.explain("eu").slots?.used).toBe(3);
  for (const lease of leases) lease.done();
  expect(hive.explain("eu").slots?.used).toBe(0);
});

test("an adaptive limit falls for all agents when one is refused for overload, whether or not there is a rate", async () => {
  const maxInFlight = { adaptive: { min: 1, max: 40, start: 20 } };
  const endpoints = [
    { id: "eu", maxInFlight },
    { id: "us", maxInFlight, rpmLimit: 1_000 },
  ];
  const [one, other] = (await hives.swarm(2, { endpoints })) as [
    Awaited<ReturnType<TestHives["join"]>>,
    Awaited<ReturnType<TestHives["join"]>>,
  ];
  expect(other.explain("eu").slots?.limit).toBe(20);
  for (const endpoint of ["eu", "us"]) {
    const lease = await one.acquire({ endpoint });
    await hives.clock.run(100);
    lease.refused({ reason: "529", kind: "overload" });
    await hives.clock.run(100);
    expect(one.explain(endpoint).slots?.limit).toBe(17);
    expect(other.explain(endpoint).slots?.limit).toBe(17);
  }
});

test("a call that is under way for unusually long is named, at other agents too", async () => {
  const endpoints = [{ id: "eu", maxInFlight: 4 }];
  const [one, other] = (await hives.swarm(2, { endpoints })) as [
    Awaited<ReturnType<TestHives["join"]>>,
    Awaited<ReturnType<TestHives["join"]>>,
  ];
  const long = watch(one.acquire({ endpoint: "eu" }));
  await hives.clock.run(120_000);
  expect(long.lease).toBeDefined();
  expect(other.explain("eu").slots?.longest).toMatchObject({ agentId: one.agentId });
  expect(other.explain("eu").text).toMatch(/hive-0 has held a slot for 1[12]\d s/);
});

test.each([
  [0, "endpoints[0].maxInFlight"],
  [1.5, "endpoints[0].maxInFlight"],
  ["3", "endpoints[0].maxInFlight"],
  [{}, "endpoints[0].maxInFlight"],
  [{ adaptive: { min: 0, max: 5 } }, "endpoints[0].maxInFlight.adaptive.min"],
  [{ adaptive: { min: 6, max: 5 } }, "endpoints[0].maxInFlight.adaptive.max"],
  [{ adaptive: { min: 2, max: 5, start: 1 } }, "endpoints[0].maxInFlight.adaptive.start"],
])("maxInFlight of %j is refused by name", async (maxInFlight, option) => {
  await expect(hives.alone({ endpoints: [{ id: "eu", maxInFlight: maxInFlight as number }] })).rejects.toThrow(option);
});

describe("a limit that is set while calls are under way", () => {
  test.each(["done", "cancel"] as const)("counts them until they end by %s", async (how) => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 100 }], keys: { acme: { rpmLimit: 50 } } });
    const [first, second] = [await hive.acquire({ endpoint: "eu" }), await hive.acquire({ endpoint: "eu" })];
    hive.addEndpoint({ id: "eu", rpmLimit: 100, maxInFlight: 2 });
    expect(hive.tryAcquire({ endpoint: "eu" })).toMatchObject({ allowed: false, limitedBy: "swarm-in-flight" });
    first[how]();
    expect(hive.explain("eu").slots?.used).toBe(1);
    hive.addEndpoint({ id: "eu", rpmLimit: 100, tpmLimit: 5_000, maxInFlight: 2 });
    const third = hive.tryAcquire({ endpoint: "eu", tokens: 1 });
    expect(third.allowed).toBe(true);
    second[how]();
    third.lease?.[how]();
    expect(hive.explain("eu").slots?.used).toBe(0);
  });

  test("counts those of a key", async () => {
    const keys = { acme: { rpmLimit: 50 } };
    const hive = await hives.alone({ endpoints: [{ id: "eu" }], keys });
    const lease = await hive.acquire({ endpoint: "eu", key: "acme" });
    hive.reconfigure({ keys: { acme: { rpmLimit: 50, maxInFlight: 1 } } });
    expect(hive.tryAcquire({ endpoint: "eu", key: "acme" })).toMatchObject({ limitedBy: "key-in-flight" });
    lease.done();
    expect(hive.tryAcquire({ endpoint: "eu", key: "acme" }).allowed).toBe(true);
  });

  test("renews them with their leases", async () => {
    const endpoints = [{ id: "eu", rpmLimit: 100 }];
    const [one, other] = (await hives.swarm(2, { endpoints, leaseMs: 10_000 })) as [Hive, Hive];
    const lease = await one.acquire({ endpoint: "eu" });
    for (const hive of [one, other]) hive.reconfigure({ endpoints: [{ id: "eu", rpmLimit: 100, maxInFlight: 1 }] });
    const waiting = watch(other.acquire({ endpoint: "eu" }));
    for (let i = 0; i < 4; i++) {
      await hives.clock.run(6_000);
      lease.renew();
    }
    expect(waiting.lease).toBeUndefined();
    expect(other.explain("eu").slots?.used).toBe(1);
    lease.done();
    await hives.clock.run(1_000);
    expect(waiting.lease).toBeDefined();
  });
});

test("a rate that is set later counts the usage of an endpoint that had only slots", async () => {
  const hive = await hives.alone({ endpoints: [{ id: "eu", maxInFlight: 5 }] });
  const [first, second] = [
    await hive.acquire({ endpoint: "eu", tokens: 400 }),
    await hive.acquire({ endpoint: "eu", tokens: 90 }),
  ];
  first.done();
  hive.reconfigure({ endpoints: [{ id: "eu", maxInFlight: 5, tpmLimit: 500 }] });
  expect(hive.tryAcquire({ endpoint: "eu", tokens: 20 })).toMatchObject({ allowed: false, reason: "rate" });
  expect(hive.explain("eu").limits).toMatchObject([{ dimension: "tokens", used: 490 }]);
  second.done({ tokens: 50 });
  expect(hive.explain("eu")).toMatchObject({ limits: [{ dimension: "tokens", used: 450 }], slots: { used: 0 } });
});

test("answers of the provider count as requests of a window, and never as calls under way", async () => {
  const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 100, maxInFlight: 2 }] });
  hive.observe({ endpoint: "eu", limits: { requests: { limit: 100, remaining: 40 } } });
  expect(hive.explain("eu")).toMatchObject({ limits: [{ used: 60 }], slots: { used: 0 } });
  expect(hive.tryAcquire({ endpoint: "eu" }).allowed).toBe(true);
  hive.observe({ endpoint: "eu", model: "large", limits: { requests: { limit: 100, remaining: 20 } } });
  expect(hive.explain("eu")).toMatchObject({ limits: [{ used: 80 }], slots: { used: 1 } });
});
