import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RESOURCE, type TestAgent, TestSwarm } from "../support/swarm.ts";

let swarm: TestSwarm;
beforeEach(() => {
  swarm = new TestSwarm();
});
afterEach(() => swarm.close());

const pauses = () => swarm.agents.map(({ limiter }) => limiter.status().resources[0]?.pausedForMs as number);

describe("a running pause is not shortened", () => {
  test("by a later refusal with a shorter Retry-After", async () => {
    const [first, second] = (await swarm.start(2)) as [TestAgent, TestAgent];
    first.limiter.announceReduced(RESOURCE, "429", { retryAfterMs: 30_000 });
    await swarm.clock.run(1_000);
    first.limiter.announceReduced(RESOURCE, "429", { retryAfterMs: 1_000 });
    second.limiter.announceReduced(RESOURCE, "429", { retryAfterMs: 2_000 });
    await swarm.clock.run(5_000);
    for (const pausedForMs of pauses()) expect(pausedForMs).toBe(24_000);
  });

  test("by a later refusal without Retry-After, after the cooldown", async () => {
    const [first] = (await swarm.start(2, 100, 10_000, { cooldownMs: 0 })) as [TestAgent];
    first.limiter.announceReduced(RESOURCE, "429", { retryAfterMs: 30_000 });
    await swarm.clock.run(1_000);
    first.limiter.announceReduced(RESOURCE, "429");
    await swarm.clock.run(5_000);
    for (const pausedForMs of pauses()) expect(pausedForMs).toBe(24_000);
  });

  test("by an overload", async () => {
    const [first] = (await swarm.start(2)) as [TestAgent];
    first.limiter.announceReduced(RESOURCE, "429", { retryAfterMs: 30_000 });
    await swarm.clock.run(1_000);
    first.limiter.announceReduced(RESOURCE, "529", { kind: "overload" });
    await swarm.clock.run(5_000);
    for (const pausedForMs of pauses()) expect(pausedForMs).toBe(24_000);
  });

  test("by refusals of an agent that does not know it yet", async () => {
    const [first, second] = (await swarm.start(2)) as [TestAgent, TestAgent];
    first.limiter.announceReduced(RESOURCE, "429", { retryAfterMs: 30_000 });
    // Neither agent has received a message of the other yet, because messages arrive only when promises settle.
    second.limiter.announceReduced(RESOURCE, "429");
    swarm.clock.advance(5);
    second.limiter.announceReduced(RESOURCE, "429", { retryAfterMs: 1_000 });
    await swarm.clock.run(5_000);
    for (const pausedForMs of pauses()) expect(pausedForMs).toBeGreaterThan(24_000);
  });

  test("by a deeper cut that was made at the same moment", async () => {
    const first = await swarm.join({ reduceFactor: 0.5 });
    const second = await swarm.join({ reduceFactor: 0.4 });
    for (const { limiter } of [first, second]) limiter.setCapacity(RESOURCE, 100, 10_000);
    await swarm.clock.run(3_000);
    first.limiter.announceReduced(RESOURCE, "429", { retryAfterMs: 30_000 });
    second.limiter.announceReduced(RESOURCE, "429");
    await swarm.clock.run(5_000);
    for (const pausedForMs of pauses()) expect(pausedForMs).toBeGreaterThan(24_000);
    for (const { limiter } of swarm.agents) expect(limiter.status().resources[0]?.level).toBe(0.4);
  });
});

test("a pause that all agents know does not grow by repetition", async () => {
  const [first] = (await swarm.start(5)) as [TestAgent];
  first.limiter.announceReduced(RESOURCE, "429", { retryAfterMs: 30_000 });
  await swarm.clock.run(29_999);
  for (const pausedForMs of pauses()) expect(pausedForMs).toBeLessThanOrEqual(20);
});
