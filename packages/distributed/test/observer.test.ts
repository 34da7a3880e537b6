import { type MessageBus, memoryBus } from "@hivepace/bus";
import { isHivepaceError } from "@hivepace/core";
import { bytes } from "@hivepace/test-kit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CAPACITY_SUBJECT,
  createDistributedLimiter,
  type Hive,
  observeSwarm,
  PRESENCE_SUBJECT,
  type SwarmEvent,
  type SwarmObserver,
} from "../src/index.ts";
import { TestHives, watch } from "./support/hives.ts";
import { levelSaid } from "./support/level-said.ts";

const EU = { id: "eu", rpmLimit: 100, tpmLimit: 10_000 };
const SECRET = "a secret that is long enough";

let hives: TestHives;
const observers: SwarmObserver[] = [];
beforeEach(() => {
  hives = new TestHives();
});
afterEach(async () => {
  await hives.close();
  await Promise.all(observers.splice(0).map((observer) => observer.close()));
  expect(hives.clock.pending).toBe(0);
});

async function observe(options: Partial<Parameters<typeof observeSwarm>[0]> = {}) {
  const bus = memoryBus(hives.broker, { clock: hives.clock });
  const observer = await observeSwarm({ bus, namespace: "test", clock: hives.clock, ...options });
  observers.push(observer);
  const events: SwarmEvent[] = [];
  observer.onEvent((event) => events.push(event));
  return { observer, events };
}

const types = (events: readonly SwarmEvent[]) => events.map((event) => event.type);

describe("the snapshot", () => {
  test("has the calls under way of a limit on them, until they may have ended", async () => {
    const { observer } = await observe();
    const adaptive = { min: 1, max: 40, start: 4 };
    const endpoints = [{ id: "eu", maxInFlight: { adaptive } }];
    const [one, two] = (await hives.swarm(2, { endpoints, leaseMs: 120_000 })) as [Hive, Hive];
    const leases = [await one.acquire({ endpoint: "eu" }), await two.acquire({ endpoint: "eu" })];
    await hives.clock.run(40_000);
    const slots = () => observer.snapshot().resources[0];
    expect(slots()).toMatchObject({
      resource: "eu@in-flight",
      windowMs: 0,
      limits: [{ dimension: "inFlight", limit: 40, total: 4, used: 2, usedSince: 2 }],
      agents: [{ used: [1] }, { used: [1] }],
    });
    expect(slots()?.agents[0]?.heldMs).toBeGreaterThan(38_000);
    leases[1]?.done();
    await hives.clock.run(3_000);
    expect(slots()?.limits[0]).toMatchObject({ used: 1, usedSince: 2 });
    expect(slots()?.agents.at(-1)?.heldMs ?? 0).toBe(0);
  });

  test("keeps the slots of an agent that ended until its calls may have ended", async () => {
    const { observer } = await observe();
    const endpoints = [{ id: "eu", maxInFlight: 3 }];
    const [one] = (await hives.swarm(2, { endpoints, leaseMs: 300_000 })) as [Hive, Hive];
    await one.acquire({ endpoint: "eu" });
    await hives.clock.run(2_000);
    void one.close();
    const used = () => observer.snapshot().resources.map(({ limits }) => limits[0]?.used);
    await hives.clock.run(200_000);
    expect(used()).toEqual([1]);
    await hives.clock.run(110_000);
    expect(used()).not.toEqual([1]);
  });

  test("has the slots of a key among the keys", async () => {
    const { observer } = await observe();
    const [one] = await hives.swarm(2, { endpoints: [{ id: "eu" }], keys: { acme: { maxInFlight: 2 } } });
    await one?.acquire({ endpoint: "eu", key: "acme" });
    await hives.clock.run(2_000);
    const [key] = observer.snapshot().keys;
    expect(key).toMatchObject({ resource: "acme@in-flight", limits: [{ dimension: "inFlight", total: 2, used: 1 }] });
  });

  test("has every agent with its usage, its fair share, its demand and its longest wait", async () => {
    const { observer } = await observe();
    const [one, two] = await hives.swarm(2, { endpoints: [EU] });
    for (let i = 0; i < 30; i++) (await one?.acquire({ endpoint: "eu", tokens: 100 }))?.done();
    await hives.clock.run(1_500);
    for (let i = 0; i < 200; i++) watch(two?.acquire({ endpoint: "eu", tokens: 1 }) as never);
    await hives.clock.run(5_000);
    const snapshot = observer.snapshot();
    expect(snapshot).toMatchObject({ bus: "ready", members: 2, ignored: {} });
    expect(snapshot.agents).toMatchObject([
      { agentId: "hive-0", state: "live", weight: 1, isAllocated: false },
      { agentId: "hive-1", state: "live", weight: 1, isAllocated: false },
    ]);
    const [eu] = snapshot.resources;
    const [requests, tokens] = eu?.limits ?? [];
    expect(eu).toMatchObject({ resource: "eu", windowMs: 60_000, level: 1, cause: undefined, risesInMs: undefined });
    expect(requests).toMatchObject({ dimension: "requests", limit: 100, total: 100 });
    expect(tokens).toMatchObject({ dimension: "tokens", limit: 10_000, total: 10_000 });
    const status = [one, two].map((hive) => hive?.explain("eu"));
    expect(eu?.agents.map(({ used }) => used[0])).toEqual(status.map((it) => it?.limits[0]?.usedHere));
    expect(requests?.used).toBe(status[0]?.limits[0]?.used);
    expect(requests?.usedSince).toBe(requests?.used);
    expect(requests?.waiting).toBe(status[1]?.waiting);
    const [idle, busy] = eu?.agents ?? [];
    expect(idle).toMatchObject({ waiting: [0, 0], waitedMs: 0 });
    expect(busy?.waitedMs).toBeGreaterThan(4_000);
    // The demand of the first agent is the 30 that it used.
    expect(idle?.share[0]).toBeCloseTo(30);
    expect(busy?.share[0]).toBeCloseTo(70);
  });

  test("publishes nothing: the agents do not know of the observer", async () => {
    await observe();
    const [one] = await hives.swarm(2, { endpoints: [EU] });
    await hives.clock.run(10_000);
    expect(one?.status()).toMatchObject({ members: 2 });
    expect(one?.status().peers).toHaveLength(1);
  });

  test("includes the last window from before the observation, and counts only later usage", async () => {
    const [one] = await hives.swarm(2, { endpoints: [EU] });
    for (let i = 0; i < 30; i++) (await one?.acquire({ endpoint: "eu", tokens: 1 }))?.done();
    await hives.clock.run(2_000);
    const { observer, events } = await observe();
    await hives.clock.run(2_000);
    for (let i = 0; i < 5; i++) (await one?.acquire({ endpoint: "eu", tokens: 1 }))?.done();
    await hives.clock.run(2_000);
    expect(observer.snapshot().resources[0]?.limits[0]).toMatchObject({ used: 35, usedSince: 5 });
    expect(events).toEqual([]);
  });

  test("drops usage from the window, also of a silent agent, and then forgets the agent", async () => {
    const { observer } = await observe();
    const [one] = await hives.swarm(2, { endpoints: [EU] });
    for (let i = 0; i < 30; i++) (await one?.acquire({ endpoint: "eu", tokens: 1 }))?.done();
    await hives.clock.run(2_000);
    hives.broker.stop();
    await hives.clock.run(40_000);
    expect(observer.snapshot().resources[0]?.limits[0]?.used).toBe(30);
    expect(observer.snapshot().bus).toBe("interrupted");
    await hives.clock.run(30_000);
    expect(observer.snapshot().resources[0]?.limits[0]?.used).toBe(0);
    await hives.clock.run(60_000);
    expect(observer.snapshot()).toMatchObject({ agents: [], resources: [], members: 0 });
    hives.broker.start();
  });

  test("a limiter's resources, in no namespace, have one limit without a name", async () => {
    const { observer } = await observe({ namespace: "" });
    const bus = await memoryBus(hives.broker, { clock: hives.clock });
    const limiter = await createDistributedLimiter({ bus, agentId: "one", clock: hives.clock });
    limiter.setCapacity("llm", 60, 60_000);
    await hives.clock.run(3_000);
    expect(limiter.tryAcquire("llm")).toBe(true);
    await hives.clock.run(3_000);
    expect(observer.snapshot().resources).toMatchObject([
      { resource: "llm", limits: [{ dimension: undefined, limit: 60, total: 60, used: 1 }] },
    ]);
    await limiter.close();
  });

  test("of different limits the smallest applies, and a missing limit is infinite", async () => {
    const { observer } = await observe();
    await hives.join({ endpoints: [{ id: "eu", rpmLimit: 100 }] });
    await hives.join({ endpoints: [{ id: "eu", rpmLimit: 80 }] });
    await hives.clock.run(5_000);
    expect(observer.snapshot().resources[0]?.limits).toMatchObject([
      { dimension: "requests", limit: 80 },
      { dimension: "tokens", limit: Infinity, total: Infinity },
    ]);
  });

  test("a restarted agent is one agent, and the usage of its former incarnation still counts", async () => {
    const { observer } = await observe();
    await hives.join({ endpoints: [EU] });
    const former = await hives.join({ agentId: "again", endpoints: [EU] });
    await hives.clock.run(3_000);
    for (let i = 0; i < 20; i++) (await former.acquire({ endpoint: "eu", tokens: 1 })).done();
    const closed = former.close();
    await hives.clock.run(100);
    await closed;
    const next = await hives.join({ agentId: "again", endpoints: [EU] });
    await hives.clock.run(3_000);
    for (let i = 0; i < 3; i++) (await next.acquire({ endpoint: "eu", tokens: 1 })).done();
    await hives.clock.run(2_000);
    const { agents, resources, members } = observer.snapshot();
    expect(members).toBe(2);
    expect(agents.map(({ agentId }) => agentId)).toEqual(["again", "hive-0"]);
    expect(resources[0]?.agents.map(({ agentId, used }) => [agentId, used[0]])).toEqual([
      ["again", 23],
      ["hive-0", 0],
    ]);
    expect(resources[0]?.limits[0]).toMatchObject({ used: 23, usedSince: 23 });
  });
});

describe("events", () => {
  test("an agent joins, leaves, falls silent and is back", async () => {
    const { events } = await observe();
    const stays = await hives.join({ agentId: "stays", endpoints: [EU] });
    const leaves = await hives.join({ agentId: "leaves", endpoints: [EU] });
    await hives.clock.run(3_000);
    expect(events).toEqual([
      { type: "joined", agentId: "stays" },
      { type: "joined", agentId: "leaves" },
    ]);
    events.length = 0;
    const closed = leaves.close();
    await hives.clock.run(100);
    await closed;
    expect(events).toEqual([{ type: "left", agentId: "leaves" }]);
    events.length = 0;
    hives.broker.stop();
    await hives.clock.run(20_000);
    hives.broker.start();
    await hives.clock.run(10_000);
    expect(events).toEqual([
      { type: "bus", state: "interrupted" },
      { type: "silent", agentId: "stays" },
      { type: "bus", state: "ready" },
      { type: "back", agentId: "stays" },
    ]);
    expect(stays.status().bus).toBe("ready");
  });

  test("a cut with its origin and reason, the pause, and each step of the recovery until the level is full", async () => {
    const { observer, events } = await observe();
    const options = { endpoints: [EU], recoveryIntervalMs: 5_000, recoveryFactor: 1.5 };
    const [one, two] = await hives.swarm(2, options);
    events.length = 0;
    const lease = await one?.acquire({ endpoint: "eu", tokens: 1 });
    await hives.clock.run(100);
    lease?.refused({ reason: "429 from the test", retryAfterMs: 2_000 });
    await hives.clock.run(100);
    expect(events).toMatchObject([
      { type: "cut", resource: "eu", agentId: "hive-0", reason: "429 from the test", level: 0.5, newCapacity: 50 },
      { type: "paused", resource: "eu", agentId: "hive-0", reason: "429 from the test" },
    ]);
    const cut = observer.snapshot().resources[0];
    expect(cut).toMatchObject({ level: 0.5, cause: { agentId: "hive-0", reason: "429 from the test" } });
    expect(cut?.pausedForMs).toBeGreaterThan(1_800);
    expect(cut?.risesInMs).toBeGreaterThan(4_800);
    expect(cut?.limits[0]).toMatchObject({ limit: 100, total: 50 });
    expect(two?.explain("eu").level).toBe(0.5);
    events.length = 0;
    await hives.clock.run(11_000);
    expect(events).toEqual([
      { type: "raised", resource: "eu", level: 0.75, newCapacity: 75 },
      { type: "raised", resource: "eu", level: 1, newCapacity: 100 },
    ]);
    expect(observer.snapshot().resources[0]).toMatchObject({ level: 1, risesInMs: undefined });
  });

  test("a cut from before the observation is in the snapshot and causes no event", async () => {
    const [one] = await hives.swarm(2, { endpoints: [EU] });
    one?.announceReduced("eu", "before");
    await hives.clock.run(5_000);
    const { observer, events } = await observe();
    await hives.clock.run(5_000);
    expect(observer.snapshot().resources[0]).toMatchObject({ level: 0.5, cause: { reason: "before" } });
    expect(types(events)).toEqual([]);
  });

  test("an announcement of an agent of another implementation, once", async () => {
    const { events } = await observe();
    const bus = await memoryBus(hives.broker, { clock: hives.clock });
    const message = bytes(
      '{"resource":"eu","agent_id":"go","new_capacity":30,"reason":"429","timestamp":"2030-01-01T00:00:00Z"}',
    );
    for (let i = 0; i < 2; i++) await bus.publish(`test.${CAPACITY_SUBJECT}`, message);
    await hives.clock.run(10);
    const timestamp = new Date("2030-01-01T00:00:00Z");
    const update = { resource: "eu", agentId: "go", newCapacity: 30, reason: "429", timestamp };
    expect(events).toEqual([{ type: "announced", update }]);
    await bus.close();
  });

  test("a removed listener is not called", async () => {
    const { observer } = await observe();
    const heard: SwarmEvent[] = [];
    observer.onEvent((event) => heard.push(event))();
    await hives.join({ endpoints: [EU] });
    await hives.clock.run(3_000);
    expect(heard).toEqual([]);
  });
});

describe("ignored messages", () => {
  test("garbage is counted by its reason and changes nothing", async () => {
    const { observer } = await observe();
    const bus = await memoryBus(hives.broker, { clock: hives.clock });
    for (const text of ["", "{", '{"v":1}', '{"v":2}']) await bus.publish(`test.${PRESENCE_SUBJECT}`, bytes(text));
    await hives.clock.run(10);
    expect(observer.snapshot()).toMatchObject({
      received: 0,
      agents: [],
      ignored: { "bad agent_id": 1, "newer version": 1, "no JSON": 2 },
    });
    await bus.close();
  });

  test("with a secret, messages without its signature", async () => {
    const { observer: knows } = await observe({ secret: SECRET });
    const { observer: other } = await observe({ secret: "another secret, long enough" });
    await hives.swarm(2, { endpoints: [EU], secret: SECRET });
    expect(knows.snapshot()).toMatchObject({ members: 2, ignored: {} });
    expect(other.snapshot().agents).toEqual([]);
    expect(other.snapshot().ignored["forged"]).toBeGreaterThan(0);
  });

  test("agents of another namespace", async () => {
    const { observer } = await observe({ namespace: "other" });
    await hives.swarm(2, { endpoints: [EU] });
    expect(observer.snapshot().agents).toEqual([]);
  });
});

describe("message by message", () => {
  const quota = {
    resource: "eu",
    window_ms: 60_000,
    limits: [100, 1_000],
    sent: [10, 100],
    used: [10, 100],
    bins: [[10, 100]],
    turn: 0,
  };
  const level = levelSaid({ origin: "one", reason: "429" });
  let bus: MessageBus;
  beforeEach(async () => {
    bus = await memoryBus(hives.broker, { clock: hives.clock });
  });
  afterEach(() => bus.close());

  async function say(change: object, quotaChange: object | null = {}): Promise<void> {
    const head = { v: 1, agent_id: "one", life: 5, seq: 1, up_ms: 0, next_ms: 1_000, weight: 1, members: 1 };
    const message = { ...head, ...change, pools: quotaChange ? [{ ...quota, ...quotaChange }] : [] };
    await bus.publish(`test.${PRESENCE_SUBJECT}`, bytes(JSON.stringify(message)));
    await hives.clock.run(1);
  }

  test("a repeated or late message, or one after a goodbye, changes nothing", async () => {
    const { observer, events } = await observe();
    await say({ seq: 2 }, { sent: [20, 200], used: [20, 200] });
    await say({ seq: 2 }, { sent: [90, 900] });
    await say({ seq: 1 });
    expect(observer.snapshot().resources[0]?.limits[0]).toMatchObject({ used: 20, usedSince: 20 });
    await say({ seq: 3, bye: true }, null);
    await say({ seq: 4 }, { sent: [90, 900] });
    expect(observer.snapshot()).toMatchObject({ members: 0, agents: [{ agentId: "one", state: "left" }] });
    expect(observer.snapshot().resources[0]?.agents).toMatchObject([{ agentId: "one", share: [0, 0] }]);
    expect(observer.snapshot().resources[0]?.limits[0]).toMatchObject({ used: 20, usedSince: 20 });
    expect(observer.snapshot().ignored).toEqual({ stale: 2, left: 1 });
    expect(types(events)).toEqual(["joined", "left"]);
  });

  test("refunds reduce the usage", async () => {
    const { observer } = await observe();
    await say({});
    await say({ seq: 2 }, { sent: [12, 120], back: [0, 40], back_age_ms: 5, used: [12, 80] });
    await say({ seq: 3 }, { sent: [12, 120], back: [1, 50], back_age_ms: 5, used: [11, 70] });
    expect(observer.snapshot().resources[0]?.limits.map(({ usedSince }) => usedSince)).toEqual([11, 70]);
  });

  test("a new incarnation ends the previous one, whose demand ends and whose usage still counts", async () => {
    const { observer, events } = await observe();
    await say({}, { waiting: [7, 70] });
    await say({ life: 6, up_ms: 0 }, { sent: [1, 10], used: [1, 10], bins: [[1, 10]] });
    const [eu] = observer.snapshot().resources;
    expect(eu?.limits[0]).toMatchObject({ used: 11, waiting: 0 });
    expect(eu?.agents).toMatchObject([{ agentId: "one", used: [11, 110], waiting: [0, 0] }]);
    await hives.clock.run(1);
    // The former incarnation's late goodbye does not end the new one.
    await say({ seq: 2, bye: true }, { sent: [11, 110], used: [11, 110], bins: [[11, 110]] });
    expect(observer.snapshot().agents).toMatchObject([{ state: "live" }]);
    expect(observer.snapshot().resources[0]?.limits[0]?.used).toBe(12);
    for (let seq = 2; seq < 12; seq++) {
      await hives.clock.run(1_000);
      await say({ life: 6, seq }, null);
    }
    expect(types(events)).toEqual(["joined", "joined"]);
  });

  test("the usage of a former incarnation counts, in either order of arrival", async () => {
    const { observer } = await observe();
    await say({ life: 6 });
    await say({ life: 5 });
    expect(observer.snapshot().resources[0]?.agents).toMatchObject([{ used: [20, 200] }]);
  });

  test("capacity without demand is shared by weight", async () => {
    const { observer } = await observe();
    await say({});
    await say({ agent_id: "two", weight: 2 });
    expect(observer.snapshot().resources[0]?.agents).toMatchObject([
      { agentId: "one", share: [10 + 80 / 3, 100 + 800 / 3] },
      { agentId: "two", share: [10 + 160 / 3, 100 + 1_600 / 3] },
    ]);
  });

  test("a wait grows between two messages", async () => {
    const { observer } = await observe();
    await say({}, { claim: { amounts: [1, 1], next: [1, 1], turn: 0, tie: 1, waited_ms: 500 } });
    await hives.clock.run(1_000);
    expect(observer.snapshot().resources[0]?.agents[0]?.waitedMs).toBe(1_501);
  });

  test("limits of another window have no names", async () => {
    const { observer } = await observe();
    await say({}, { resource: "eu@3600000" });
    expect(observer.snapshot().resources[0]?.limits.map(({ dimension }) => dimension)).toEqual([undefined, undefined]);
  });

  test("an announcement counts before any report confirms it, and a pause of long ago causes no event", async () => {
    const { observer, events } = await observe();
    await say({});
    const announce = (change: object) => {
      const five = {
        resource: "eu",
        agent_id: "one",
        new_capacity: 50,
        reason: "429",
        timestamp: "2030-01-01T00:00:00Z",
      };
      const message = { ...five, v: 1, life: 5, ...change };
      return bus.publish(`test.${CAPACITY_SUBJECT}`, bytes(JSON.stringify(message)));
    };
    events.length = 0;
    await announce({ seq: 1, level: { ...level, pause_age_ms: 60_000, pause_ms: 90_000 } });
    await announce({ seq: 2, resource: "nobody has this", level });
    await hives.clock.run(1);
    expect(types(events)).toEqual(["cut"]);
    const { resources, ignored } = observer.snapshot();
    expect(resources).toMatchObject([{ resource: "eu", level: 0.5, cause: { agentId: "one" } }]);
    expect(ignored).toEqual({ "unknown resource": 1 });
  });

  test("a level is forgotten with the last agent that reported it", async () => {
    const { observer } = await observe();
    await say({}, { level });
    expect(observer.snapshot().resources[0]?.level).toBe(0.5);
    await hives.clock.run(200_000);
    expect(observer.snapshot().resources).toEqual([]);
    await say({ agent_id: "two" });
    expect(observer.snapshot().resources).toMatchObject([{ level: 1, limits: [{ usedSince: 10 }, {}] }]);
  });
});

describe("the bus", () => {
  test("stays open when lent, and is closed with the observer when promised", async () => {
    const lent = await memoryBus(hives.broker, { clock: hives.clock });
    const first = await observeSwarm({ bus: lent, namespace: "test", clock: hives.clock });
    await first.close();
    await first.close();
    expect(lent.state).toBe("ready");
    let owned: MessageBus | undefined;
    const bus = memoryBus(hives.broker, { clock: hives.clock }).then((it) => {
      owned = it;
      return it;
    });
    const second = await observeSwarm({ bus, namespace: "test", clock: hives.clock });
    await second.close();
    expect(owned?.state).toBe("closed");
    expect(second.snapshot().bus).toBe("closed");
    await lent.close();
  });

  test.each([
    ["options", undefined],
    ["bus", { bus: {} }],
    ["secret", { secret: "short" }],
    ["clock", { clock: {} }],
    ["namespace", { namespace: 5 }],
  ])("a mistake in %s is INVALID_CONFIG, and a bus handed over is closed", async (option, change) => {
    let bus: MessageBus | undefined;
    const handed = memoryBus(hives.broker, { clock: hives.clock }).then((it) => {
      bus = it;
      return it;
    });
    const options = change && { bus: handed, namespace: "test", clock: hives.clock, ...change };
    const error = await observeSwarm(options as never).catch((caught: unknown) => caught);
    expect(isHivepaceError(error, "INVALID_CONFIG")).toBe(true);
    expect((error as Error).message).toContain(option);
    await handed;
    if (option !== "options" && option !== "bus") expect(bus?.state).toBe("closed");
    await bus?.close();
  });
});
