import { describe, expect, test } from "vitest";
import type { Hive } from "../../src/index.ts";
import { eachTest } from "../support/each-test.ts";

const world = eachTest();

describe("learning from answers", () => {
  const says = (limit: number, remaining: number, windowMs?: number) => ({
    endpoint: "eu",
    limits: { requests: { limit, remaining, windowMs } },
  });

  test("a limit that is not configured is learned, and follows changes", async () => {
    const hive = await world.hives.alone({ endpoints: [{ id: "eu" }] });
    await hive.acquire({ endpoint: "eu" });
    hive.observe(says(5, 4));
    let granted = 0;
    while (hive.tryAcquire({ endpoint: "eu" }).allowed) granted++;
    expect(granted).toBe(4);
    expect(hive.explain("eu").limits).toMatchObject([{ dimension: "requests", limit: 5, isLearned: true }]);
    hive.observe(says(7, 2));
    expect(hive.tryAcquire({ endpoint: "eu" }).allowed).toBe(true);
    expect(hive.tryAcquire({ endpoint: "eu" }).allowed).toBe(true);
    expect(hive.tryAcquire({ endpoint: "eu" }).allowed).toBe(false);
  });

  test("calls under way before the first answer count, with their final usage", async () => {
    const hive = await world.hives.alone({ endpoints: [{ id: "eu" }] });
    const leases = [];
    for (let i = 0; i < 8; i++) leases.push(await hive.acquire({ endpoint: "eu", tokens: 50 }));
    leases[0]?.cancel();
    hive.observe({ endpoint: "eu", limits: { requests: { limit: 1_000, remaining: 999 }, tokens: { limit: 9_000 } } });
    expect(hive.explain("eu").limits.map(({ used }) => used)).toEqual([7, 350]);
    leases[1]?.cancel();
    leases[2]?.done({ tokens: 80 });
    expect(hive.explain("eu").limits.map(({ used }) => used)).toEqual([6, 330]);
    await world.hives.clock.run(61_000);
    expect(hive.explain("eu").limits.map(({ used }) => used)).toEqual([0, 0]);
  });

  test("a limit of a day stays a limit of a day, beside those of a minute", async () => {
    const hive = await world.hives.alone({ endpoints: [{ id: "eu", tpmLimit: 1_000 }] });
    hive.observe(says(3, 3, 86_400_000));
    for (let i = 0; i < 3; i++) expect(hive.tryAcquire({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
    await world.hives.clock.run(3_600_000);
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 1 })).toMatchObject({ allowed: false, limitedBy: "swarm-rpm" });
    // The denied request gave back the tokens that it had taken from the minute's limit.
    expect(hive.explain("eu").limits.find(({ dimension }) => dimension === "tokens")?.used).toBe(0);
    await world.hives.clock.run(86_400_000);
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
  });

  test.each([-1, 0, Number.NaN, Infinity])("a limit of %d is ignored", async (limit) => {
    const hive = await world.hives.alone({ endpoints: [{ id: "eu" }] });
    hive.observe(says(limit, 0));
    for (let i = 0; i < 100; i++) expect(hive.tryAcquire({ endpoint: "eu" }).allowed).toBe(true);
  });

  test("usage outside the swarm lowers the available capacity", async () => {
    const hive = await world.hives.alone({ endpoints: [{ id: "eu", rpmLimit: 100 }] });
    await hive.acquire({ endpoint: "eu" });
    hive.observe(says(100, 39));
    let granted = 0;
    while (hive.tryAcquire({ endpoint: "eu" }).allowed) granted++;
    expect(granted).toBe(39);
    // The same answer again changes nothing.
    hive.observe(says(100, 0));
    expect(hive.explain("eu").limits[0]?.used).toBe(100);
  });

  test("usage that an agent reports shortly after the provider is not counted twice", async () => {
    const [first, second] = (await world.hives.swarm(2, { endpoints: [{ id: "eu", rpmLimit: 100 }] })) as [Hive, Hive];
    await world.hives.clock.run(5_000);
    for (let i = 0; i < 30; i++) await second.acquire({ endpoint: "eu" });
    // Ten calls of an unrelated user, and thirty that no message has reported to the first hive yet.
    first.observe(says(100, 60));
    expect(first.explain("eu").limits[0]?.used).toBe(40);
    await world.hives.clock.run(3_000);
    expect(first.explain("eu").limits[0]?.used).toBe(40);
    expect(second.explain("eu").limits[0]?.used).toBe(30);
    for (let i = 0; i < 5; i++) await second.acquire({ endpoint: "eu" });
    await world.hives.clock.run(3_000);
    expect(first.explain("eu").limits[0]?.used).toBe(45);
  });

  test("a provider that counts a request on arrival may count it slightly longer than this agent", async () => {
    const hive = await world.hives.alone({ endpoints: [{ id: "eu", rpmLimit: 100 }] });
    for (let i = 0; i < 100; i++) await hive.acquire({ endpoint: "eu" });
    await world.hives.clock.run(60_100);
    await hive.acquire({ endpoint: "eu" });
    hive.observe(says(100, 0));
    expect(hive.explain("eu").limits[0]?.used).toBe(1);
    await world.hives.clock.run(5_000);
    hive.observe(says(100, 0));
    expect(hive.explain("eu").limits[0]?.used).toBe(100);
  });

  test("a refusal of a request that was denied and sent anyway, in observe mode, cuts nothing", async () => {
    const hive = await world.hives.alone({ endpoints: [{ id: "eu", rpmLimit: 10 }], mode: "observe" });
    const granted = await hive.acquire({ endpoint: "eu" });
    for (let i = 1; i < 10; i++) await hive.acquire({ endpoint: "eu" });
    const denied = await hive.acquire({ endpoint: "eu" });
    denied.refused({ reason: "429" });
    expect(hive.explain("eu").level).toBe(1);
    granted.refused({ reason: "429" });
    expect(hive.explain("eu").level).toBeLessThan(1);
  });

  test("an answer that shows the whole limit keeps a measured cut: the cause may be a limit that is not shown", async () => {
    const hive = await world.hives.alone({ endpoints: [{ id: "eu", rpmLimit: 100 }] });
    (await hive.acquire({ endpoint: "eu" })).refused({ reason: "429" });
    await world.hives.clock.run(7_000);
    hive.observe(says(100, 100));
    expect(hive.explain("eu").level).toBe(0.5);
    await world.hives.clock.run(20_000);
    expect(hive.explain("eu").level).toBe(1);
  });

  test("an answer after a long call describes the time when its request was sent", async () => {
    const hive = await world.hives.alone({ endpoints: [{ id: "eu", rpmLimit: 100 }] });
    for (let i = 0; i < 100; i++) await hive.acquire({ endpoint: "eu" });
    await world.hives.clock.run(80_000);
    hive.observe({ ...says(100, 0), sentAgoMs: 80_000 });
    hive.observe({ ...says(100, 0), sentAgoMs: 30_000 });
    expect(hive.explain("eu").limits[0]?.used).toBe(0);
    hive.observe({ ...says(100, 0), sentAgoMs: 10_000 });
    expect(hive.explain("eu").limits[0]?.used).toBe(100);

    const cut = await world.hives.alone({ endpoints: [{ id: "eu", rpmLimit: 100 }], recovery: "stepped" });
    (await cut.acquire({ endpoint: "eu" })).refused({ reason: "429" });
    await world.hives.clock.run(20_000);
    cut.observe({ ...says(100, 99), sentAgoMs: 20_000 });
    expect(cut.explain("eu").level).toBe(0.5);
    cut.observe({ ...says(100, 99), sentAgoMs: 10_000 });
    expect(cut.explain("eu").level).toBe(1);
  });

  test.each([
    ["for all where messages are signed", "a secret of the whole swarm", 1],
    ["and only for the agent that receives it where they are not", undefined, 0.5],
  ])("an answer that shows the whole limit ends a recovery in steps, %s", async (_, secret, level) => {
    const options = { endpoints: [{ id: "eu", rpmLimit: 100 }], recovery: "stepped", secret } as const;
    const [first, second] = (await world.hives.swarm(2, options)) as [Hive, Hive];
    (await first.acquire({ endpoint: "eu" })).refused({ reason: "429" });
    await world.hives.clock.run(1_000);
    first.observe(says(100, 100));
    // Too early for a decision.
    expect(first.explain("eu").level).toBe(0.5);
    await world.hives.clock.run(6_000);
    first.observe(says(50, 50));
    expect(first.explain("eu").level).toBe(0.5);
    first.observe(says(100, 100));
    expect(first.explain("eu").level).toBe(1);
    await world.hives.clock.run(300);
    expect(second.explain("eu").level).toBe(level);
    second.observe(says(100, 100));
    expect(second.explain("eu").level).toBe(1);
  });
});
