import { afterEach, beforeEach, expect, test } from "vitest";
import { TestHives } from "../support/hives.ts";

let hives: TestHives;
beforeEach(() => {
  hives = new TestHives();
});
afterEach(() => hives.close());

test("usage above the estimate of a call longer than the window counts when the call ends", async () => {
  const [first, second] = await hives.swarm(2, { windowMs: 10_000, endpoints: [{ id: "eu", tpmLimit: 1_000 }] });
  const lease = await first?.acquire({ endpoint: "eu", tokens: 100 });
  await hives.clock.run(15_000);
  lease?.done({ tokens: 900 });
  expect(first?.explain("eu").limits[0]?.used).toBe(800);
  await hives.clock.run(2_000);
  expect(second?.explain("eu").limits[0]?.used).toBe(800);
  await hives.clock.run(11_000);
  expect(first?.explain("eu").limits[0]?.used).toBe(0);
  expect(second?.explain("eu").limits[0]?.used).toBe(0);
});

test("a call longer than the window with usage below its estimate refunds nothing", async () => {
  const [first, second] = await hives.swarm(2, { windowMs: 10_000, endpoints: [{ id: "eu", tpmLimit: 1_000 }] });
  const lease = await first?.acquire({ endpoint: "eu", tokens: 300 });
  await hives.clock.run(15_000);
  first?.tryAcquire({ endpoint: "eu", tokens: 50 }).lease?.done();
  lease?.done({ tokens: 100 });
  await hives.clock.run(2_000);
  for (const hive of [first, second]) expect(hive?.explain("eu").limits[0]?.used).toBe(50);
});

test("a long call of an endpoint without limits counts from its end, once a limit is set", async () => {
  const hive = await hives.alone({ windowMs: 10_000, endpoints: [{ id: "eu" }] });
  const lease = await hive.acquire({ endpoint: "eu", tokens: 100 });
  await hives.clock.run(15_000);
  lease.done({ tokens: 900 });
  hive.observe({ endpoint: "eu", limits: { tokens: { limit: 1_000 } } });
  expect(hive.explain("eu").limits[0]?.used).toBe(800);
});
