import { afterEach, beforeEach, expect, test } from "vitest";
import { RESOURCE, type TestAgent, TestSwarm } from "../support/swarm.ts";

let swarm: TestSwarm;
beforeEach(() => {
  swarm = new TestSwarm();
});
afterEach(() => swarm.close());

test("an outage right after a resource was added leaves the agent its shares of all others", async () => {
  const [first] = (await swarm.start(2, 1_000, 60_000, { isolation: "available" })) as [TestAgent];
  await swarm.clock.run(60_000);
  first.limiter.setCapacity("added", 1_000, 60_000);
  await swarm.clock.run(100);
  swarm.broker.stop();
  await swarm.clock.run(10_000);
  expect(first.limiter.status().mode).toBe("isolated");
  expect(first.limiter.getCapacity(RESOURCE)?.share).toBeGreaterThan(400);
  expect(first.limiter.getCapacity("added")?.share).toBeGreaterThan(400);
});

test("the usage of departed agents on a late resource is learned from peers that saw it", async () => {
  const [leaver, stayer] = (await swarm.start(3, 100, 60_000)) as [TestAgent, TestAgent];
  const late = await swarm.join();
  late.limiter.setCapacity("other", 100, 60_000);
  await swarm.clock.run(3_000);
  let used = 0;
  for (let i = 0; i < 60; i++) if (leaver.limiter.tryAcquire(RESOURCE)) used++;
  for (let i = 0; i < 40; i++) await swarm.clock.run(100);
  await leaver.limiter.close();
  await swarm.clock.run(3_000);
  late.limiter.setCapacity(RESOURCE, 100, 60_000);
  await swarm.clock.run(5_000);
  expect(used).toBeGreaterThan(10);
  let more = 0;
  for (let i = 0; i < 100; i++) if (late.limiter.tryAcquire(RESOURCE)) more++;
  await swarm.clock.run(2_000);
  for (let i = 0; i < 100; i++) if (late.limiter.tryAcquire(RESOURCE)) more++;
  for (let i = 0; i < 100; i++) if (stayer.limiter.tryAcquire(RESOURCE)) more++;
  expect(used + more).toBeLessThanOrEqual(100);
});

test("a resource added by one agent enlarges no margin of other resources", async () => {
  const [first, second] = (await swarm.start(2, 1_000, 60_000)) as [TestAgent, TestAgent];
  await swarm.clock.run(120_000);
  const before = second.limiter.getCapacity(RESOURCE)?.available;
  first.limiter.setCapacity("added", 1_000, 60_000);
  await swarm.clock.run(1_000);
  expect(second.limiter.getCapacity(RESOURCE)?.available).toBe(before);
});
