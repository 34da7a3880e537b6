import { memoryBus, namespacedBus } from "@hivepace/bus";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { QuotaReport } from "../src/engine/index.ts";
import type { Hive } from "../src/index.ts";
import { decodePresence } from "../src/wire/presence.ts";
import { PRESENCE_SUBJECT } from "../src/wire/subjects.ts";
import { callOn, TestHives, watch } from "./support/hives.ts";

const DAY_MS = 86_400_000;

let hives: TestHives;
beforeEach(() => {
  hives = new TestHives();
});
afterEach(() => hives.close());

/** Two hives that share a limit per minute, and a learned limit per day that the first hive has used up. */
async function twoHives(perDay: number): Promise<readonly [Hive, Hive]> {
  const [first, second] = (await hives.swarm(2, { endpoints: [{ id: "eu", tpmLimit: 10_000 }] })) as [Hive, Hive];
  for (const hive of [first, second])
    hive.observe({ endpoint: "eu", limits: { requests: { limit: perDay, remaining: perDay, windowMs: DAY_MS } } });
  await hives.clock.run(5_000);
  for (let granted = 0; granted < perDay; ) {
    if (first.tryAcquire({ endpoint: "eu", tokens: 10 }).allowed) granted++;
    await hives.clock.run(100);
  }
  await hives.clock.run(61_000);
  return [first, second];
}

/** Collects the first hive's reports about the limit per minute from now on. */
async function reportsOfFirst(): Promise<QuotaReport[]> {
  const reports: QuotaReport[] = [];
  const bus = namespacedBus(await memoryBus(hives.broker, { clock: hives.clock }), "test");
  await bus.subscribe(PRESENCE_SUBJECT, (payload) => {
    const { id, quotas } = decodePresence(payload);
    if (id === "hive-0") reports.push(...quotas.filter(({ name }) => name === "eu"));
  });
  return reports;
}

test("a call that the day's limit denies takes nothing of the minute's limit, not even for a moment", async () => {
  const [first] = await twoHives(5);
  const reports = await reportsOfFirst();
  for (let i = 0; i < 50; i++) {
    expect(first.tryAcquire({ endpoint: "eu", tokens: 100 })).toMatchObject({ allowed: false, limitedBy: "swarm-rpm" });
    await hives.clock.run(100);
  }
  await hives.clock.run(2_000);
  expect(reports.length).toBeGreaterThan(0);
  const last = reports.at(-1);
  expect([last?.spentTotal, last?.refundedTotal]).toEqual([
    [5, 50],
    [0, 0],
  ]);
});

test("a waiter behind the day's limit keeps its claim and its virtual time in the minute's limit", async () => {
  const [first] = await twoHives(5);
  const reports = await reportsOfFirst();
  const waiting = watch(first.acquire({ endpoint: "eu", tokens: 4_000 }));
  await hives.clock.run(20_000);
  expect(waiting.lease).toBeUndefined();
  const claims = reports.flatMap(({ claim }) => claim ?? []);
  expect(claims.length).toBeGreaterThan(0);
  expect(new Set(claims.map(({ virtualTime }) => virtualTime)).size).toBe(1);
  expect(claims.every(({ amounts }) => (amounts[1] ?? 0) >= 4_000)).toBe(true);
});

test("a waiter that another endpoint serves while it claims a second window leaves no claim behind", async () => {
  const [eu, us] = [
    { id: "eu", rpmLimit: 100, tpmLimit: 5_000 },
    { id: "us", rpmLimit: 0.5, tpmLimit: 5_000 },
  ];
  const [first, second] = (await hives.swarm(3, { endpoints: [eu], keys: { acme: { rpmLimit: 4 } } })) as [Hive, Hive];
  first.tryAcquire({ endpoint: "eu", key: "acme", tokens: 0 }).lease?.done();
  const routed = watch(first.acquire({ route: ["eu", "us"], key: "acme", tokens: 90 }));
  await hives.clock.run(50);
  for (const hive of hives.hives) hive.addEndpoint(us);
  first.tryAcquire({ endpoint: "eu", tokens: 1 }).lease?.cancel();
  await hives.clock.run(3_000);
  expect(routed.lease?.endpoint).toBe("eu");
  const other = watch(second.acquire({ endpoint: "us", tokens: 90 }));
  await hives.clock.run(60_000);
  expect(other.lease).toBeDefined();
});

test("hives that wait for two windows at once all go on: no hive holds one claim and waits for the other", async () => {
  const all = (await hives.swarm(3, { endpoints: [{ id: "eu", rpmLimit: 60 }] })) as Hive[];
  for (const hive of all)
    hive.observe({ endpoint: "eu", limits: { tokens: { limit: 1e6, remaining: 1e6, windowMs: DAY_MS } } });
  const sent = all.map(() => [] as { at: number; tokens: number }[]);
  for (const [i, hive] of all.entries())
    void callOn(hive, hives.clock, { endpoint: "eu", tokens: 100 }, sent[i] as { at: number; tokens: number }[]);
  for (let minute = 0; minute < 12; minute++) {
    const before = sent.flat().length;
    await hives.clock.run(60_000);
    expect(sent.flat().length - before).toBeGreaterThan(55);
  }
});
