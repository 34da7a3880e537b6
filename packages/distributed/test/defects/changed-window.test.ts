import { afterEach, beforeEach, expect, test } from "vitest";
import { TestHives } from "../support/hives.ts";
import { RESOURCE, type TestAgent, TestSwarm } from "../support/swarm.ts";

let swarm: TestSwarm;
beforeEach(() => {
  swarm = new TestSwarm();
});
afterEach(() => swarm.close());

/** Acquires as much as this agent may use now, and returns the number of grants. */
const takeAll = (agent: TestAgent): number => {
  let taken = 0;
  while (agent.limiter.tryAcquire(RESOURCE)) taken++;
  return taken;
};

test("another window while peers have claims leaves no claim behind: the limit holds for all together", async () => {
  const [first, second] = (await swarm.start(2, 100, 10_000)) as [TestAgent, TestAgent];
  for (let i = 0; i < 99; i++) first.limiter.tryAcquire(RESOURCE);
  await swarm.clock.run(1_000);
  const abort = new AbortController();
  const waits = [first, second].map(({ limiter }) =>
    limiter.acquire(RESOURCE, { cost: 90, signal: abort.signal }).catch(() => {}),
  );
  // Each agent knows the other's claim, and has not yet received its withdrawal.
  await swarm.clock.run(1_000);
  abort.abort();
  for (const { limiter } of [first, second]) limiter.setCapacity(RESOURCE, 100, 5_000);
  await Promise.all(waits);
  await swarm.clock.run(30_000);
  const taken = takeAll(first) + takeAll(second);
  expect(taken).toBeGreaterThan(40);
  expect(taken).toBeLessThanOrEqual(100);
});

test("a limit for another window is no limit of this one", async () => {
  const [first, second] = (await swarm.start(2, 100, 10_000)) as [TestAgent, TestAgent];
  first.limiter.setCapacity(RESOURCE, 600, 60_000);
  await swarm.clock.run(3_000);
  expect(first.limiter.getCapacity(RESOURCE)?.total).toBe(600);
  expect(second.limiter.getCapacity(RESOURCE)?.total).toBe(100);
});

test("another window during an outage leaves an agent its share and no more", async () => {
  const agents = (await swarm.start(4, 100, 10_000, { isolation: "balanced" })) as [TestAgent, ...TestAgent[]];
  await swarm.clock.run(5_000);
  swarm.broker.stop();
  await swarm.clock.run(60_000);
  for (const { limiter } of agents) limiter.setCapacity(RESOURCE, 200, 20_000);
  await swarm.clock.run(60_000);
  const shares = agents.map(({ limiter }) => limiter.getCapacity(RESOURCE)?.share as number);
  expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(200);
  for (const share of shares) expect(share).toBeGreaterThan(10);
});

test("a call under way counts usage above its estimate in limits added after its start", async () => {
  const hives = new TestHives();
  const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 0.5 }], windowMs: 10_000 });
  const lease = await hive.acquire({ endpoint: "eu", tokens: 90 });
  hive.reconfigure({ endpoints: [{ id: "eu", tpmLimit: 100 }] });
  lease.done({ tokens: 190 });
  expect(hive.explain("eu").limits).toMatchObject([{ dimension: "tokens", used: 100 }]);
  await hives.close();
});
