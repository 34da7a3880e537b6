import { afterEach, beforeEach, expect, test } from "vitest";
import { TestHives } from "./support/hives.ts";
import { RESOURCE, TestSwarm } from "./support/swarm.ts";

const MINUTE = 60_000;

let hives: TestHives;
let swarm: TestSwarm;
beforeEach(() => {
  hives = new TestHives();
  swarm = new TestSwarm();
});
afterEach(() => Promise.all([hives.close(), swarm.close()]));

test("a hive with half a request a minute grants one every two minutes", async () => {
  const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 0.5, tpmLimit: 1_000 }] });
  const grantedAt: number[] = [];
  const begin = hives.clock.now();
  for (let i = 0; i < 3; i++)
    void hive.acquire({ endpoint: "eu", tokens: 10 }).then(() => grantedAt.push(hives.clock.now() - begin));
  await hives.clock.run(10 * MINUTE);
  expect(grantedAt.map((ms) => Math.round(ms / MINUTE))).toEqual([0, 2, 4]);
  expect(hive.explain("eu").limits).toMatchObject([
    { dimension: "tokens", limit: 1_000, windowMs: MINUTE },
    { dimension: "requests", limit: 1, windowMs: 2 * MINUTE },
  ]);
});

test("a learned limit below one per window is one in a longer window", async () => {
  const hive = await hives.alone({ endpoints: [{ id: "eu" }] });
  hive.observe({ endpoint: "eu", limits: { requests: { limit: 0.5, remaining: 0.5 } } });
  expect(hive.tryAcquire({ endpoint: "eu" }).allowed).toBe(true);
  const { allowed, retryAfterMs } = hive.tryAcquire({ endpoint: "eu" });
  expect([allowed, Math.round((retryAfterMs ?? 0) / MINUTE)]).toEqual([false, 2]);
});

for (const sharing of ["fair", "none"] as const)
  test(`a limiter (sharing: "${sharing}") with half a call a minute grants one every two minutes`, async () => {
    const { limiter } = await swarm.join({ sharing });
    limiter.setCapacity(RESOURCE, 0.5, MINUTE);
    await swarm.clock.run(3_000);
    const grantedAt: number[] = [];
    const begin = swarm.clock.now();
    const note = (): number => grantedAt.push(swarm.clock.now() - begin);
    for (let i = 0; i < 3; i++) limiter.acquire(RESOURCE).then(note, () => {});
    await swarm.clock.run(9 * MINUTE);
    expect(grantedAt.map((ms) => Math.round(ms / MINUTE))).toEqual([0, 2, 4]);
  });

test("a limiter says when a retry is granted", async () => {
  const { limiter } = await swarm.join();
  limiter.setCapacity(RESOURCE, 10, 10_000);
  await swarm.clock.run(3_000);
  for (let i = 0; i < 10; i++) expect(limiter.tryAcquire(RESOURCE)).toBe(true);
  await swarm.clock.run(1_000);
  const error = await limiter.acquire(RESOURCE, { timeoutMs: 0 }).catch((thrown: unknown) => thrown);
  const { retryAfterMs } = error as { retryAfterMs: number };
  await swarm.clock.run(Math.ceil(retryAfterMs) - 2);
  expect(limiter.tryAcquire(RESOURCE)).toBe(false);
  await swarm.clock.run(2);
  expect(limiter.tryAcquire(RESOURCE)).toBe(true);
});
