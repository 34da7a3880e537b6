import { memoryBus } from "@hivepace/bus";
import { bytes, text } from "@hivepace/test-kit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CAPACITY_SUBJECT, type DistributedStatus, PRESENCE_SUBJECT } from "../src/index.ts";
import { MessageChain } from "../src/limiter/message-chain.ts";
import { levelSaid } from "./support/level-said.ts";
import { RESOURCE, type TestAgent, TestSwarm } from "./support/swarm.ts";

let swarm: TestSwarm;
beforeEach(() => {
  swarm = new TestSwarm();
});
afterEach(() => swarm.close());

/** A foreign client on the broker that receives all messages and can publish any message. */
async function stranger() {
  const bus = await memoryBus(swarm.broker, { clock: swarm.clock });
  const heard: { subject: string; payload: Uint8Array }[] = [];
  for (const subject of [PRESENCE_SUBJECT, CAPACITY_SUBJECT])
    await bus.subscribe(subject, (payload) => heard.push({ subject, payload }));
  const say = async (subject: string, message: unknown) => {
    const payload = message instanceof Uint8Array ? message : bytes(JSON.stringify(message));
    await bus.publish(subject, payload);
    await swarm.clock.run(1);
  };
  return { heard, say };
}

const total = ({ limiter }: TestAgent) => limiter.getCapacity(RESOURCE)?.total;
/** The state that a message could change: the agent's view of the swarm and of each limit. */
const view = ({ limiter }: TestAgent) => {
  const { mode, members, resources } = limiter.status();
  return { mode, members, resources: resources.map(({ cause: _, ...rest }) => rest) };
};
const ignored = ({ limiter }: TestAgent): DistributedStatus["ignored"] => limiter.status().ignored;

const five = (change: object = {}) => ({
  resource: RESOURCE,
  agent_id: "go-agent",
  new_capacity: 30,
  reason: "received 429 response",
  timestamp: "2030-01-01T00:00:03.123456789Z",
  ...change,
});
const presence = (change: object = {}, quota: object = {}) => ({
  v: 1,
  agent_id: "x",
  life: 1,
  seq: 1,
  up_ms: 60_000,
  next_ms: 1_000,
  weight: 1,
  members: 2,
  pools: [{ resource: RESOURCE, window_ms: 10_000, limits: [100], turn: 0, ...quota }],
  ...change,
});

/** The messages of an agent that links them, as bytes. */
function linkedMessages() {
  const chain = new MessageChain();
  return { linked: (message: object) => chain.linked(bytes(JSON.stringify(message))) };
}

describe("with an agent that knows only the five fields", () => {
  test("its announcement cuts all agents alike, to its number", async () => {
    const agents = await swarm.start(3);
    const { say } = await stranger();
    await say(CAPACITY_SUBJECT, five());
    expect(agents.map(total)).toEqual([30, 30, 30]);
    for (const { updates } of agents)
      expect(updates.at(-1)).toMatchObject({ agentId: "go-agent", newCapacity: 30, reason: "received 429 response" });
    await swarm.clock.run(30_001);
    expect(agents.map(total)).toEqual([33, 33, 33]);
  });

  test("the same message again, or another within the cooldown, cuts no further", async () => {
    const [agent] = (await swarm.start(2)) as [TestAgent];
    const { say } = await stranger();
    await say(CAPACITY_SUBJECT, five());
    await say(CAPACITY_SUBJECT, five());
    await say(CAPACITY_SUBJECT, five({ new_capacity: 10, timestamp: "2030-01-01T00:00:04Z" }));
    expect(total(agent)).toBe(30);
    expect(ignored(agent)).toEqual({ replayed: 1, "within the cooldown": 1 });
    await swarm.clock.run(60_000);
    await say(CAPACITY_SUBJECT, five());
    expect(total(agent)).toBeCloseTo(36.3);
    await say(CAPACITY_SUBJECT, five({ new_capacity: 10, timestamp: "2030-01-01T00:01:04Z" }));
    expect(total(agent)).toBe(10);
  });

  test("a higher capacity is ignored", async () => {
    const [agent] = (await swarm.start(1)) as [TestAgent];
    const { say } = await stranger();
    await say(CAPACITY_SUBJECT, five({ new_capacity: 1_000 }));
    await say(CAPACITY_SUBJECT, five({ new_capacity: 100, timestamp: "2030-01-01T00:00:09Z" }));
    expect(total(agent)).toBe(100);
    expect(ignored(agent)).toEqual({ "no lower capacity": 2 });
  });

  test("such an agent can read our announcements", async () => {
    const [agent] = (await swarm.start(2)) as [TestAgent];
    const { heard } = await stranger();
    agent.limiter.announceReduced(RESOURCE, "received 429");
    await swarm.clock.run(10);
    const announced = heard.filter(({ subject }) => subject === CAPACITY_SUBJECT).map(({ payload }) => text(payload));
    expect(announced).toHaveLength(1);
    expect(JSON.parse(announced[0] ?? "")).toMatchObject({
      resource: RESOURCE,
      agent_id: "agent-0",
      new_capacity: 50,
      reason: "received 429",
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
  });

  test("of a newer version of ours the five fields count, and the version is counted", async () => {
    const [agent] = (await swarm.start(1)) as [TestAgent];
    const { say } = await stranger();
    await say(CAPACITY_SUBJECT, five({ v: 2, level: { shape: "unknown" } }));
    expect(total(agent)).toBe(30);
    expect(ignored(agent)).toEqual({ "newer version, but for the five fields": 1 });
  });
});

describe("without a secret no message", () => {
  let agents: TestAgent[];
  let say: (subject: string, message: unknown) => Promise<void>;
  beforeEach(async () => {
    agents = await swarm.start(2, 100, 10_000, { minCapacity: 5 });
    ({ say } = await stranger());
  });

  test("raises a capacity above the configured one", async () => {
    await say(
      PRESENCE_SUBJECT,
      presence({}, { limits: [1e6], level: levelSaid({ base: 1, most: 1_000, recovery_factor: 1_000 }) }),
    );
    await say(
      CAPACITY_SUBJECT,
      five({ v: 1, life: 1, seq: 1, level: levelSaid({ epoch: 2, base: 1, most: 500, recovery_factor: 99 }) }),
    );
    await swarm.clock.run(60_000);
    for (const agent of agents) expect(total(agent)).toBeLessThanOrEqual(100);
  });

  test("pushes it below the minimum", async () => {
    await say(CAPACITY_SUBJECT, five({ new_capacity: 1 }));
    expect(agents.map(total)).toEqual([5, 5]);
    await say(CAPACITY_SUBJECT, five({ v: 1, life: 1, seq: 1, level: levelSaid({ epoch: 9, base: 1e-9 }) }));
    expect(agents.map(total)).toEqual([5, 5]);
    await say(PRESENCE_SUBJECT, presence({}, { limits: [1e-9], level: levelSaid({ epoch: 10, base: 1e-9 }) }));
    expect(agents.map(total)).toEqual([5, 5]);
    // The level does not drop below the minimum either, so that the recovery is not longer.
    for (const { limiter } of agents) expect(limiter.status().resources[0]?.level).toBe(0.05);
  });

  test("creates a resource", async () => {
    await say(CAPACITY_SUBJECT, five({ resource: "new" }));
    await say(PRESENCE_SUBJECT, presence({}, { resource: "newer" }));
    for (const { limiter } of agents) {
      expect(limiter.getCapacity("new")).toBeUndefined();
      expect(limiter.getCapacity("newer")).toBeUndefined();
      expect(limiter.status().ignored).toEqual({ "unknown resource": 1 });
    }
  });

  test("pauses all agents for longer than a minute", async () => {
    const level = levelSaid({ epoch: 2, pause_ms: 1e9, base: 1 });
    await say(CAPACITY_SUBJECT, five({ v: 1, life: 1, seq: 1, level }));
    expect(agents[0]?.limiter.status().resources[0]?.pausedForMs).toBeLessThanOrEqual(60_000);
  });

  test("keeps a limit from recovering for good", async () => {
    const level = levelSaid({ epoch: 2, recovery_factor: 1, recovery_interval_ms: 2e9 });
    await say(CAPACITY_SUBJECT, five({ v: 1, life: 1, seq: 1, level }));
    await swarm.clock.run(301_000);
    for (const agent of agents) expect(total(agent)).toBeGreaterThan(50);
  });

  test("reduces the usage of another agent", async () => {
    const [first] = agents as [TestAgent];
    for (let i = 0; i < 40; i++) expect(first.limiter.tryAcquire(RESOURCE)).toBe(true);
    await say(PRESENCE_SUBJECT, presence({ seq: 1 }, { sent: [40], used: [40], bins: [[40]] }));
    const before = first.limiter.getCapacity(RESOURCE)?.available;
    await say(PRESENCE_SUBJECT, presence({ seq: 2 }, { sent: [0] }));
    await say(PRESENCE_SUBJECT, presence({ seq: 3 }, { sent: [40], back: [40] }));
    expect(first.limiter.getCapacity(RESOURCE)?.available).toBeLessThanOrEqual(before ?? 0);
    const { linked } = linkedMessages();
    await say(PRESENCE_SUBJECT, linked(presence({ agent_id: "y" }, { sent: [40], back: [50] })));
    expect(ignored(first)).toEqual({ "more given back than used": 1 });
  });

  test("of an epoch that no honest agent has reached is believed", async () => {
    await say(CAPACITY_SUBJECT, five({ v: 1, life: 1, seq: 1, level: levelSaid({ epoch: 1_002 }) }));
    expect(agents.map(total)).toEqual([100, 100]);
    expect(ignored(agents[0] as TestAgent)).toEqual({ "epoch far ahead": 1 });
  });

  test("that is malformed changes anything, and each is counted with its reason", async () => {
    const before = agents.map(view);
    await say(CAPACITY_SUBJECT, bytes("not JSON"));
    await say(CAPACITY_SUBJECT, five({ new_capacity: 0 }));
    await say(PRESENCE_SUBJECT, new Uint8Array(200_000).fill(0x20));
    await say(PRESENCE_SUBJECT, presence({ v: 2 }));
    await say(PRESENCE_SUBJECT, presence({ seq: "first" }));
    expect(agents.map(view)).toEqual(before);
    for (const agent of agents)
      expect(ignored(agent)).toEqual({
        "no JSON": 1,
        "bad new_capacity": 1,
        "too large": 1,
        "newer version": 1,
        "bad seq": 1,
      });
  });
});

describe("with a secret", () => {
  const secret = "the secret of this swarm";

  test("agents with the same secret agree as without one", async () => {
    const agents = await swarm.start(3, 100, 10_000, { secret });
    for (const agent of agents) for (let i = 0; i < 10; i++) swarm.call(agent);
    await swarm.clock.run(20_000);
    agents[0]?.limiter.announceReduced(RESOURCE, "429");
    await swarm.clock.run(10);
    expect(agents.map(total)).toEqual([50, 50, 50]);
    expect(swarm.largest()).toBeLessThanOrEqual(100);
    for (const agent of agents) expect(ignored(agent)).toEqual({});
  });

  test("unsigned messages, and messages with another signature, change nothing", async () => {
    const [agent] = (await swarm.start(2, 100, 10_000, { secret })) as [TestAgent];
    const other = await swarm.join({ agentId: "other", secret: "the secret of another swarm" });
    other.limiter.setCapacity(RESOURCE, 10, 10_000);
    const { say } = await stranger();
    await say(CAPACITY_SUBJECT, five());
    other.limiter.announceReduced(RESOURCE, "429");
    await swarm.clock.run(3_000);
    expect(agent.limiter.status()).toMatchObject({ members: 2 });
    expect(total(agent)).toBe(100);
    expect(ignored(agent)).toEqual({ unsigned: 1, forged: expect.any(Number) });
  });

  test("replayed messages change nothing", async () => {
    const agents = (await swarm.start(2, 100, 10_000, { secret })) as [TestAgent, TestAgent];
    const { say, heard } = await stranger();
    agents[0].limiter.announceReduced(RESOURCE, "429");
    await swarm.clock.run(40_000);
    const recorded = [...heard];
    const before = agents.map(view);
    for (const { subject, payload } of recorded.slice(0, 10)) await say(subject, payload);
    expect(agents.map(total)).toEqual([55, 55]);
    expect(agents.map(view).map(({ members }) => members)).toEqual(before.map(({ members }) => members));
    expect(ignored(agents[1])["stale"]).toBeGreaterThan(0);
    expect(ignored(agents[1])["replayed"]).toBe(1);
    // A replay on the other subject changes nothing either.
    await say(CAPACITY_SUBJECT, recorded.find(({ subject }) => subject === PRESENCE_SUBJECT)?.payload);
    expect(ignored(agents[1])["forged"]).toBe(1);
  });

  test("a secret is changed one agent at a time", async () => {
    const next = "the next secret of this swarm";
    const one = await swarm.join({ secret });
    const two = await swarm.join({ secret: [secret, next] });
    const three = await swarm.join({ secret: [next, secret] });
    for (const { limiter } of [one, two, three]) limiter.setCapacity(RESOURCE, 100, 10_000);
    await swarm.clock.run(4_000);
    expect([one, two, three].map(({ limiter }) => limiter.status().members)).toEqual([2, 3, 3]);
  });
});
