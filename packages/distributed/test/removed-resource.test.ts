import { afterEach, beforeEach, expect, test } from "vitest";
import { RESOURCE, type TestAgent, TestSwarm } from "./support/swarm.ts";

let swarm: TestSwarm;
beforeEach(() => {
  swarm = new TestSwarm();
});
afterEach(() => swarm.close());

test("a resource that is removed after a denied try is available to the other agents at once", async () => {
  const [first, second] = (await swarm.start(2, 100, 60_000)) as [TestAgent, TestAgent];
  while (first.limiter.tryAcquire(RESOURCE, 1));
  for (let i = 0; i < 20; i++) {
    await swarm.clock.run(50);
    first.limiter.tryAcquire(RESOURCE, 60);
  }
  expect(first.limiter.removeResource(RESOURCE)).toBe(true);
  const used = 100 - (second.limiter.getCapacity(RESOURCE)?.available ?? 0);
  expect(used).toBeGreaterThan(0);
  await swarm.clock.run(61_000);
  let granted = 0;
  for (let i = 0; i < 100; i++) {
    await swarm.clock.run(100);
    while (second.limiter.tryAcquire(RESOURCE)) granted++;
  }
  expect(granted).toBeGreaterThanOrEqual(98);
});
