import { memoryBus, type Subscription } from "@hivepace/bus";
import type { Clock } from "@hivepace/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CAPACITY_SUBJECT, type DistributedConfig, PRESENCE_SUBJECT } from "../src/index.ts";
import { RESOURCE, type TestAgent, TestSwarm } from "./support/swarm.ts";

const WINDOW_MS = 60_000;
const LIMIT = 300;
const secret = "the secret of this swarm";
/** An agent forgets a peer after two windows and a minute. */
const FORGOTTEN_MS = 2 * WINDOW_MS + 60_000;

interface Recorded {
  readonly subject: string;
  readonly payload: Uint8Array;
}

let swarm: TestSwarm;
beforeEach(() => {
  swarm = new TestSwarm();
});
afterEach(() => swarm.close());

/** Records everything on the bus from now on. */
async function recorder(of = swarm) {
  const bus = await memoryBus(of.broker, { clock: of.clock });
  const recorded: Recorded[] = [];
  const subscriptions: Subscription[] = [];
  for (const subject of [PRESENCE_SUBJECT, CAPACITY_SUBJECT])
    subscriptions.push(await bus.subscribe(subject, (payload) => recorded.push({ subject, payload })));
  const stop = async () => {
    for (const subscription of subscriptions) await subscription.unsubscribe();
    return recorded;
  };
  const replay = async (messages: readonly Recorded[]) => {
    for (const { subject, payload } of messages) await bus.publish(subject, payload);
  };
  return { stop, replay };
}

const start = (count: number, config: Partial<DistributedConfig> = {}) =>
  swarm.start(count, LIMIT, WINDOW_MS, { secret, expectedAgents: count, ...config });

/** A clock whose wall time is off. */
const skewed = (ms: number): Clock => ({
  now: () => swarm.clock.now(),
  epochMs: () => swarm.clock.epochMs() + ms,
  after: (delay, callback) => swarm.clock.after(delay, callback),
});

const statusOf = ({ limiter }: TestAgent) => limiter.status();
const ignored = (agent: TestAgent, reason: string): number => statusOf(agent).ignored[reason] ?? 0;

describe("a recording of signed messages changes nothing", () => {
  test.each([0, 3_600_000])(
    "of agents that were replaced and are forgotten, with clocks %d ms apart",
    async (apartMs) => {
      const before = await start(5);
      const { stop, replay } = await recorder();
      for (const agent of before) swarm.call(agent);
      await swarm.clock.run(20_000);
      const recorded = await stop();
      const agents: TestAgent[] = [];
      for (let i = 0; i < 5; i++) {
        const clock = skewed(i % 2 === 0 ? 0 : -apartMs);
        const agent = await swarm.join({ agentId: `next-${i}`, secret, expectedAgents: 5, clock });
        agent.limiter.setCapacity(RESOURCE, LIMIT, WINDOW_MS);
        agents.push(agent);
        await before[i]?.limiter.close();
        swarm.call(agent);
        await swarm.clock.run(3_000);
      }
      await swarm.clock.run(FORGOTTEN_MS + 5_000);
      for (const agent of agents) expect(statusOf(agent)).toMatchObject({ members: 5, peers: { length: 4 } });
      await swarm.clock.run(4 * WINDOW_MS);
      for (let i = 0; i < 10; i++) {
        await replay(recorded);
        await swarm.clock.run(WINDOW_MS / 10);
        for (const agent of agents) expect(statusOf(agent)).toMatchObject({ members: 5, peers: { length: 4 } });
      }
      expect(swarm.sentSince(swarm.clock.now() - WINDOW_MS)).toBeGreaterThanOrEqual(0.95 * LIMIT);
      for (const agent of agents) expect(ignored(agent, "too old")).toBeGreaterThanOrEqual(10 * recorded.length * 0.9);
    },
  );

  describe("with a pause of an hour", () => {
    const restarted = async (apartMs: number) => {
      const before = await start(3);
      const { stop, replay } = await recorder();
      before[0]?.limiter.announceReduced(RESOURCE, "429", { retryAfterMs: 3_600_000 });
      await swarm.clock.run(2_000);
      const recorded = await stop();
      for (const { limiter } of before) await limiter.close();
      await swarm.clock.run(100);
      const agents: TestAgent[] = [];
      const config = { secret, expectedAgents: 3, clock: skewed(apartMs) };
      for (let i = 0; i < 3; i++) agents.push(await swarm.join({ ...config, agentId: `next-${i}` }));
      for (const agent of agents) agent.limiter.setCapacity(RESOURCE, LIMIT, WINDOW_MS);
      await replay(recorded);
      await swarm.clock.run(3_000);
      await replay(recorded);
      await swarm.clock.run(10);
      return { agents, pauses: agents.map((agent) => statusOf(agent).resources[0]?.pausedForMs) };
    };

    test("after all agents were restarted", async () => {
      const { agents, pauses } = await restarted(0);
      expect(pauses).toEqual([0, 0, 0]);
      for (const agent of agents) expect(statusOf(agent).resources[0]).toMatchObject({ level: 1 });
    });

    test("after a restart with a clock further behind, except for a window at most", async () => {
      const { agents, pauses } = await restarted(-600_000);
      for (const pause of pauses) expect(pause).toBeLessThanOrEqual(WINDOW_MS);
      await swarm.clock.run(WINDOW_MS);
      for (const agent of agents) expect(statusOf(agent).resources[0]).toMatchObject({ pausedForMs: 0 });
    });
  });

  test("relayed from a swarm with another id", async () => {
    const other = new TestSwarm();
    const { stop } = await recorder(other);
    const config = { secret, swarmId: "us", agentId: "in the us" };
    const relayed = await other.join(config);
    relayed.limiter.setCapacity(RESOURCE, LIMIT, WINDOW_MS);
    await other.clock.run(10_000);
    relayed.limiter.announceReduced(RESOURCE, "429", { retryAfterMs: 3_600_000 });
    await other.clock.run(3_000);
    await other.close();
    const agents = await start(2, { swarmId: "eu" });
    const { replay } = await recorder();
    await replay(await stop());
    await swarm.clock.run(1_000);
    for (const agent of agents) {
      expect(statusOf(agent)).toMatchObject({ members: 2, resources: [{ level: 1, pausedForMs: 0 }] });
      expect(ignored(agent, "forged")).toBeGreaterThan(5);
    }
  });
});

describe("signed agents whose wall clocks differ", () => {
  test.each([-86_400_000, -10_000, 10_000, 86_400_000])("by %d ms share the limit at once", async (apartMs) => {
    const first = await start(2, { expectedAgents: 4 });
    for (const agent of first) swarm.call(agent);
    await swarm.clock.run(70_000);
    for (let i = 0; i < 2; i++) {
      const agent = await swarm.join({ secret, expectedAgents: 4, clock: skewed(apartMs) });
      agent.limiter.setCapacity(RESOURCE, LIMIT, WINDOW_MS);
      swarm.call(agent);
    }
    await swarm.clock.run(5_000);
    for (const agent of swarm.agents) expect(statusOf(agent)).toMatchObject({ members: 4, mode: "member" });
    await swarm.clock.run(2 * WINDOW_MS);
    expect(swarm.largest(WINDOW_MS)).toBeLessThanOrEqual(LIMIT);
    expect(swarm.sentSince(swarm.clock.now() - WINDOW_MS)).toBeGreaterThanOrEqual(0.95 * LIMIT);
  });

  test("learn of a pause of an hour that began before they joined", async () => {
    const [first] = (await start(2)) as [TestAgent];
    first.limiter.announceReduced(RESOURCE, "429", { retryAfterMs: 3_600_000 });
    await swarm.clock.run(5_000);
    for (const apartMs of [-7_200_000, 7_200_000]) {
      const { limiter } = await swarm.join({ secret, expectedAgents: 4, clock: skewed(apartMs) });
      limiter.setCapacity(RESOURCE, LIMIT, WINDOW_MS);
      await swarm.clock.run(5_000);
      expect(limiter.status().resources[0]?.pausedForMs).toBeGreaterThan(WINDOW_MS - 10_000);
      await swarm.clock.run(WINDOW_MS);
      expect(limiter.status().resources[0]?.pausedForMs).toBeGreaterThan(3_300_000);
    }
  });
});
