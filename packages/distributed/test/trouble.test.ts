import { type BusState, type MessageBus, memoryBus } from "@hivepace/bus";
import { chaosBus } from "@hivepace/bus/testing";
import { text } from "@hivepace/test-kit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createDistributedLimiter } from "../src/index.ts";
import { Freezer, onHearing } from "./support/freezer.ts";
import { RESOURCE, type TestAgent, TestSwarm } from "./support/swarm.ts";
import { collectWarnings } from "./support/warnings.ts";

let swarm: TestSwarm;
let warnings: ReturnType<typeof collectWarnings>;
beforeEach(() => {
  swarm = new TestSwarm();
  warnings = collectWarnings();
});
afterEach(async () => {
  await swarm.close();
  warnings.stop();
  expect(swarm.clock.pending).toBe(0);
});

/** A realistic limit: large enough for whole shares, in a window longer than the time to detect a silent agent. */
const LIMIT = 1_000;
const WINDOW_MS = 60_000;

const callAll = (agents: readonly TestAgent[], callers = 10) => {
  for (const agent of agents) for (let i = 0; i < callers; i++) swarm.call(agent);
};
const modes = (agents: readonly TestAgent[]) => agents.map(({ limiter }) => limiter.status().mode);

/** Usage in the last `forMs`, as a fraction of the limit. */
const use = (forMs: number, limit = 100, windowMs = 10_000) =>
  swarm.sentSince(swarm.clock.now() - forMs) / ((forMs * limit) / windowMs);

describe("the bus is away", () => {
  test("at the start: each agent continues with its part for the expected agents, and joins the others later", async () => {
    swarm.broker.stop();
    const agents = [];
    for (let i = 0; i < 4; i++) agents.push(await swarm.join({ expectedAgents: 4 }));
    for (const { limiter } of agents) limiter.setCapacity(RESOURCE, 100, 10_000);
    callAll(agents);
    await swarm.clock.run(30_000);
    expect(modes(agents)).toEqual(["isolated", "isolated", "isolated", "isolated"]);
    expect(agents.map(({ limiter }) => limiter.getCapacity(RESOURCE)?.share)).toEqual([24.75, 24.75, 24.75, 24.75]);
    expect(use(20_000)).toBeGreaterThan(0.9);
    expect(agents[0]?.limiter.status()).toMatchObject({
      bus: "connecting",
      viewAgeMs: undefined,
      lastEchoAgeMs: undefined,
      lastFailure: expect.stringContaining("unavailable"),
    });
    expect(agents[0]?.limiter.status().unpublished).toBeGreaterThan(5);
    swarm.broker.start();
    await swarm.clock.run(30_000);
    expect(modes(agents)).toEqual(["member", "member", "member", "member"]);
    expect(swarm.largest()).toBeLessThanOrEqual(102);
  });

  test("at the start, without expectedAgents: each agent has the minimum capacity", async () => {
    swarm.broker.stop();
    const agent = await swarm.join({ minCapacity: 3 });
    agent.limiter.setCapacity(RESOURCE, 100, 10_000);
    callAll([agent]);
    await swarm.clock.run(40_000);
    expect(swarm.largest()).toBe(3);
  });

  test.each([
    ["available", 0.75],
    ["balanced", 0.45],
    ["safe", 0],
  ] as const)("for ten minutes: %s goes on at %d of the limit, and all heal", async (isolation, least) => {
    const agents = await swarm.start(4, LIMIT, WINDOW_MS, { isolation });
    callAll(agents, 50);
    await swarm.clock.run(2 * WINDOW_MS);
    swarm.broker.stop();
    await swarm.clock.run(600_000);
    expect(modes(agents)).toEqual(["isolated", "isolated", "isolated", "isolated"]);
    expect(use(500_000, LIMIT, WINDOW_MS)).toBeGreaterThanOrEqual(least);
    if (isolation === "safe") expect(use(500_000)).toBe(0);
    swarm.broker.start();
    await swarm.clock.run(2 * WINDOW_MS);
    expect(modes(agents)).toEqual(["member", "member", "member", "member"]);
    expect(use(WINDOW_MS, LIMIT, WINDOW_MS)).toBeGreaterThan(0.9);
    // Each agent has its own share of the last agreed state, and no two agents have received exactly the same messages.
    expect(swarm.largest(WINDOW_MS)).toBeLessThanOrEqual(1.05 * LIMIT);
  });

  test("and back again, repeatedly", async () => {
    const agents = await swarm.start(4);
    callAll(agents);
    for (let i = 0; i < 12; i++) {
      swarm.broker.stop();
      await swarm.clock.run(1_000 + 700 * i);
      swarm.broker.start();
      await swarm.clock.run(4_000);
    }
    await swarm.clock.run(20_000);
    expect(modes(agents)).toEqual(["member", "member", "member", "member"]);
    expect(swarm.largest()).toBeLessThanOrEqual(105);
    expect(use(10_000)).toBeGreaterThan(0.8);
  });

  test("for one agent without its knowledge: all agents stay within the limit", async () => {
    const others = await swarm.start(3, LIMIT, WINDOW_MS);
    let chaos: ReturnType<typeof chaosBus> | undefined;
    const lonely = await swarm.join({}, (bus) => {
      chaos = chaosBus(bus, { seed: 1, clock: swarm.clock });
      return chaos;
    });
    lonely.limiter.setCapacity(RESOURCE, LIMIT, WINDOW_MS);
    await swarm.clock.run(3_000);
    callAll([...others, lonely], 30);
    await swarm.clock.run(2 * WINDOW_MS);
    if (chaos) chaos.chaos.partition = true;
    await swarm.clock.run(90_000);
    expect(lonely.limiter.status()).toMatchObject({ mode: "isolated", bus: "ready" });
    expect(swarm.largest(WINDOW_MS)).toBeLessThanOrEqual(1.02 * LIMIT);
    expect(lonely.sent.filter(({ at }) => at > swarm.clock.now() - WINDOW_MS).length).toBeGreaterThan(100);
    if (chaos) chaos.chaos.partition = false;
    await swarm.clock.run(5_000);
    expect(lonely.limiter.status().mode).toBe("member");
  });

  test("when its owner closes it the limiter continues alone, and can be closed", async () => {
    const [first, second] = (await swarm.start(2)) as [TestAgent, TestAgent];
    await first.bus.close();
    await swarm.clock.run(10_000);
    expect(first.limiter.status()).toMatchObject({ mode: "isolated", bus: "closed" });
    expect(first.limiter.tryAcquire(RESOURCE)).toBe(true);
    expect(second.limiter.status().mode).not.toBe("isolated");
    await first.limiter.close();
  });

  test("when it was closed before, no limiter can be created", async () => {
    const bus = await memoryBus(swarm.broker);
    await bus.close();
    await expect(createDistributedLimiter({ bus, agentId: "a", clock: swarm.clock })).rejects.toMatchObject({
      code: "BUS_CLOSED",
    });
  });
});

test("a bus that is ready and does not answer delays a start by five seconds, and no longer", async () => {
  const never = (bus: MessageBus) =>
    new Proxy(bus, {
      get: (target, property) => {
        if (property === "subscribe") return () => new Promise(() => {});
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  const joining = swarm.join({}, never);
  await swarm.clock.run(5_001);
  const { limiter } = await joining;
  limiter.setCapacity(RESOURCE, 100, 10_000);
  await swarm.clock.run(10_000);
  expect(limiter.status().mode).toBe("isolated");
});

test("a subscription that is refused in the background is retried, with a warning", async () => {
  let refusals = 2;
  swarm.broker.stop();
  const agent = await swarm.join({}, (bus) => {
    const subscribe = async (subject: string, handler: (payload: Uint8Array) => void) => {
      const subscription = await bus.subscribe(subject, handler);
      if (refusals-- <= 0) return subscription;
      await subscription.unsubscribe();
      throw new Error("not allowed");
    };
    return new Proxy(bus, {
      get: (target, property) => {
        if (property === "subscribe") return subscribe;
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  });
  swarm.broker.start();
  await swarm.clock.run(2_000);
  expect(agent.limiter.status().lastEchoAgeMs).toBeUndefined();
  await swarm.clock.run(10_000);
  expect(agent.limiter.status().lastEchoAgeMs).toBeLessThan(6_000);
  expect(warnings.codes).toContain("HIVEPACE_SUBSCRIBE_FAILED");
});

describe("the echo of own messages", () => {
  /** A bus that does not deliver an agent's messages back to it. */
  const withoutEcho =
    (id: string, supports: { echo: boolean }) =>
    (bus: MessageBus): MessageBus => {
      const deaf = onHearing(bus, (payload, handle) => {
        if (!text(payload).includes(`"agent_id":"${id}"`)) handle(payload);
      });
      return new Proxy(deaf, {
        get: (target, property) =>
          property === "supports" ? { ...bus.supports, ...supports } : Reflect.get(target, property, target),
      });
    };

  test("is missing where it is expected: the agent is isolated, because others may not receive it either", async () => {
    const others = await swarm.start(2, LIMIT, WINDOW_MS);
    const deaf = await swarm.join({ agentId: "deaf" }, withoutEcho("deaf", { echo: true }));
    deaf.limiter.setCapacity(RESOURCE, LIMIT, WINDOW_MS);
    callAll([...others, deaf], 30);
    await swarm.clock.run(3 * WINDOW_MS);
    expect(deaf.limiter.status()).toMatchObject({ mode: "isolated", lastEchoAgeMs: undefined });
    expect(swarm.largest(WINDOW_MS)).toBeLessThanOrEqual(1.02 * LIMIT);
  });

  test("is not needed on a bus without echo", async () => {
    const agents = [];
    for (const id of ["a", "b", "c"]) agents.push(await swarm.join({ agentId: id }, withoutEcho(id, { echo: false })));
    for (const { limiter } of agents) limiter.setCapacity(RESOURCE, 100, 10_000);
    callAll(agents);
    await swarm.clock.run(40_000);
    expect(modes(agents)).toEqual(["member", "member", "member"]);
    expect(swarm.largest()).toBeLessThanOrEqual(100);
    expect(use(20_000)).toBeGreaterThan(0.8);
  });
});

test("lost, repeated and reordered messages do no harm", async () => {
  const agents: TestAgent[] = [];
  for (let i = 0; i < 5; i++) {
    const chaos = { drop: 0.1, duplicate: 0.1, delay: [5, 80] as const, reorder: 0.05, clock: swarm.clock };
    agents.push(await swarm.join({}, (bus) => chaosBus(bus, { seed: i, ...chaos })));
  }
  for (const { limiter } of agents) limiter.setCapacity(RESOURCE, 100, 10_000);
  callAll(agents);
  await swarm.clock.run(60_000);
  agents[0]?.limiter.announceReduced(RESOURCE, "429");
  await swarm.clock.run(1_500);
  expect(agents.map(({ limiter }) => limiter.getCapacity(RESOURCE)?.total)).toEqual([50, 50, 50, 50, 50]);
  expect(swarm.largest()).toBeLessThanOrEqual(104);
  expect(swarm.sentSince(15_000)).toBeGreaterThan(350);
});

test("a wall clock that is wrong by an hour, or is set meanwhile, changes nothing", async () => {
  const agents = [];
  for (const wrongMs of [0, 3_600_000, -3_600_000])
    agents.push(await swarm.join({ clock: new Freezer(swarm.clock, wrongMs) }));
  for (const { limiter } of agents) limiter.setCapacity(RESOURCE, 100, 10_000);
  callAll(agents);
  await swarm.clock.run(30_000);
  agents[1]?.limiter.announceReduced(RESOURCE, "429");
  swarm.clock.stepWallClock(-3_600_000);
  await swarm.clock.run(29_000);
  expect(agents.map(({ limiter }) => limiter.getCapacity(RESOURCE)?.total)).toEqual([50, 50, 50]);
  await swarm.clock.run(2_000);
  expect(agents.map(({ limiter }) => limiter.getCapacity(RESOURCE)?.total)).toEqual([55, 55, 55]);
  expect(swarm.largest()).toBeLessThanOrEqual(100);
});

describe("a process that stands still", () => {
  test("for a minute joins again first, and all stay within the limit", async () => {
    const others = await swarm.start(3);
    const freezer = new Freezer(swarm.clock);
    const sleeper = await swarm.join({ clock: freezer }, freezer.bus);
    sleeper.limiter.setCapacity(RESOURCE, 100, 10_000);
    await swarm.clock.run(3_000);
    callAll([...others, sleeper]);
    await swarm.clock.run(20_000);
    freezer.freeze();
    await swarm.clock.run(60_000);
    expect(others[0]?.limiter.status().members).toBe(3);
    const resumedAt = swarm.clock.now();
    freezer.resume();
    expect(["joining", "isolated"]).toContain(sleeper.limiter.status().mode);
    expect(sleeper.limiter.tryAcquire(RESOURCE)).toBe(false);
    await swarm.clock.run(30_000);
    expect(sleeper.limiter.status()).toMatchObject({ mode: "member", members: 4 });
    expect(sleeper.sent.some(({ at }) => at > resumedAt)).toBe(true);
    expect(swarm.largest()).toBeLessThanOrEqual(100);
  });

  test("for two seconds in every ten harms no other agent", async () => {
    const others = await swarm.start(3);
    const freezer = new Freezer(swarm.clock);
    const slow = await swarm.join({ clock: freezer }, freezer.bus);
    slow.limiter.setCapacity(RESOURCE, 100, 10_000);
    await swarm.clock.run(3_000);
    callAll([...others, slow]);
    const start = swarm.clock.now();
    for (let i = 0; i < 6; i++) {
      await swarm.clock.run(8_000);
      freezer.freeze();
      await swarm.clock.run(2_000);
      freezer.resume();
    }
    await swarm.clock.run(5_000);
    expect(swarm.largest()).toBeLessThanOrEqual(104);
    expect(swarm.sentSince(start)).toBeGreaterThan(0.75 * 650);
    for (const { sent } of others) expect(sent.length).toBeGreaterThan(100);
    expect(slow.sent.length).toBeGreaterThan(50);
  });

  test("for ever keeps its budget for a while, which is then available to the others", async () => {
    const freezer = new Freezer(swarm.clock);
    const others = await swarm.start(3);
    const dead = await swarm.join({ clock: freezer }, freezer.bus);
    dead.limiter.setCapacity(RESOURCE, 100, 10_000);
    await swarm.clock.run(3_000);
    callAll([...others, dead]);
    await swarm.clock.run(20_000);
    freezer.freeze();
    await swarm.clock.run(20_000);
    expect(use(10_000)).toBeLessThan(0.85);
    await swarm.clock.run(100_000);
    expect(use(10_000)).toBeGreaterThan(0.9);
    expect(swarm.largest()).toBeLessThanOrEqual(100);
    freezer.resume();
  });
});

describe("warnings, each once", () => {
  const until = async (code: string) => {
    await swarm.clock.run(60_000);
    return warnings.codes.filter((it) => it === code).length;
  };

  test("two processes with one agent id, also in the status", async () => {
    const twins = [await swarm.join({ agentId: "twin" }), await swarm.join({ agentId: "twin" })];
    expect(await until("HIVEPACE_DUPLICATE_AGENT")).toBe(2);
    for (const { limiter } of twins) expect(limiter.status().isDuplicate).toBe(true);
    await twins[0]?.limiter.close();
    await swarm.clock.run(60_000);
    expect(twins[1]?.limiter.status().isDuplicate).toBe(false);
  });

  test("none for a restart", async () => {
    const [first] = (await swarm.start(2)) as [TestAgent, TestAgent];
    await first.limiter.close();
    await swarm.clock.run(500);
    await swarm.join({ agentId: "agent-0" });
    expect(await until("HIVEPACE_DUPLICATE_AGENT")).toBe(0);
  });

  test("alone on the bus", async () => {
    await swarm.start(1);
    expect(await until("HIVEPACE_ALONE")).toBe(1);
  });

  test("none when one agent was expected", async () => {
    await swarm.start(1, 100, 10_000, { expectedAgents: 1 });
    expect(await until("HIVEPACE_ALONE")).toBe(0);
    expect(warnings.codes).toEqual([]);
  });

  test("fewer agents than expected", async () => {
    await swarm.start(2, 100, 10_000, { expectedAgents: 3 });
    expect(await until("HIVEPACE_FEWER_AGENTS")).toBe(2);
    expect(warnings.codes).not.toContain("HIVEPACE_ALONE");
  });

  test("agents with different limits, or windows", async () => {
    const agents = [await swarm.join(), await swarm.join()];
    for (const [i, { limiter }] of agents.entries()) {
      limiter.setCapacity("limits", 100 + i, 10_000);
      limiter.setCapacity("windows", 100, 10_000 + i);
    }
    await swarm.clock.run(3_000);
    for (const { limiter } of agents) for (const name of ["limits", "windows"]) limiter.tryAcquire(name);
    expect(await until("HIVEPACE_DIFFERENT_LIMITS")).toBe(2);
  });
});

test("states of the bus agree with the status", async () => {
  const [{ limiter }] = (await swarm.start(1)) as [TestAgent];
  const states: BusState[] = [limiter.status().bus];
  swarm.broker.stop();
  states.push(limiter.status().bus);
  swarm.broker.start();
  states.push(limiter.status().bus);
  expect(states).toEqual(["ready", "interrupted", "ready"]);
});
