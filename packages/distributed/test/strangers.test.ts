import { memoryBus } from "@hivepace/bus";
import { bytes, text } from "@hivepace/test-kit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PRESENCE_SUBJECT } from "../src/index.ts";
import { MessageChain } from "../src/limiter/message-chain.ts";
import { levelSaid } from "./support/level-said.ts";
import { RESOURCE, type TestAgent, TestSwarm } from "./support/swarm.ts";

const WINDOW_MS = 60_000;
const LIMIT = 1_000;
const AGENTS = 5;

let swarm: TestSwarm;
let agents: TestAgent[];
let say: (message: object) => Promise<void>;
/** The latest message of each agent, as anyone on the bus can read it. */
let spoken: Map<string, Record<string, unknown> & { seq: number }>;

beforeEach(async () => {
  swarm = new TestSwarm();
  agents = await swarm.start(AGENTS, LIMIT, WINDOW_MS, { expectedAgents: AGENTS });
  const bus = await memoryBus(swarm.broker, { clock: swarm.clock });
  spoken = new Map();
  await bus.subscribe(PRESENCE_SUBJECT, (payload) => {
    const message = JSON.parse(text(payload));
    if (message.isForged === undefined) spoken.set(message.agent_id, message);
  });
  say = (message) => bus.publish(PRESENCE_SUBJECT, bytes(JSON.stringify({ ...message, isForged: true })));
});
afterEach(() => swarm.close());

/** Publishes a forged message for each agent, right after the agent's own. */
const impersonate = async (change: (message: Record<string, unknown> & { seq: number }) => object): Promise<void> => {
  for (const message of spoken.values()) await say({ ...message, seq: message.seq + 1, ...change(message) });
};

const sentSince = (time: number) => swarm.agents.flatMap(({ sent }) => sent).filter(({ at }) => at >= time).length;

describe("a stranger on an unsigned bus", () => {
  test("that sends goodbyes for every agent lets no agent take the part of the others", async () => {
    for (const agent of agents) swarm.call(agent);
    for (let i = 0; i < 60; i++) {
      await swarm.clock.run(1_000);
      await impersonate(() => ({ bye: true }));
    }
    expect(swarm.largest(WINDOW_MS)).toBeLessThanOrEqual(LIMIT);
    await swarm.clock.run(20_000);
    for (const { limiter } of agents) expect(limiter.status().members).toBe(AGENTS);
  });

  test("that sends the largest sequence numbers in the name of all makes the limit no larger", async () => {
    for (const agent of agents) swarm.call(agent);
    await swarm.clock.run(2_000);
    await impersonate(() => ({ seq: Number.MAX_SAFE_INTEGER }));
    await impersonate(({ seq }) => ({ seq: seq + 90 }));
    await swarm.clock.run(2 * WINDOW_MS);
    expect(swarm.largest(WINDOW_MS)).toBeLessThanOrEqual(LIMIT);
    for (const { limiter } of agents) expect(limiter.status()).toMatchObject({ members: AGENTS, mode: "member" });
  });

  test("cannot undo a cut", async () => {
    const [first] = agents as [TestAgent];
    first.limiter.announceReduced(RESOURCE, "429");
    await swarm.clock.run(1_000);
    const level = levelSaid({ epoch: 2, base: 1, most: 1 });
    await impersonate(({ pools }) => ({
      pools: (pools as object[] | undefined)?.map((pool) => ({ ...pool, level })),
    }));
    await swarm.clock.run(100);
    for (const { limiter } of agents) expect(limiter.status().resources[0]?.level).toBe(0.5);
  });

  test("slows a swarm for a window at most by one message", async () => {
    for (const agent of agents) swarm.call(agent);
    await swarm.clock.run(2 * WINDOW_MS);
    const pool = { resource: RESOURCE, window_ms: WINDOW_MS, limits: [1], turn: 0 };
    const claim = { amounts: [LIMIT], next: [LIMIT], turn: 0, tie: 0 };
    const stranger = { v: 1, life: 1, seq: 1, up_ms: 60_000, next_ms: 3_600_000, weight: 1, members: 6 };
    await say({ ...stranger, agent_id: "x", pools: [pool] });
    await say({ ...stranger, agent_id: "y", pools: [{ ...pool, limits: [LIMIT], claim }] });
    await swarm.clock.run(WINDOW_MS + 5_000);
    const from = swarm.clock.now();
    await swarm.clock.run(WINDOW_MS);
    expect(sentSince(from)).toBeGreaterThanOrEqual(0.9 * LIMIT);
  });
});

describe("a stranger cannot free usage", () => {
  const refunded = (message: Record<string, unknown>) =>
    ((message["pools"] ?? []) as { sent?: number[] }[]).map((pool) => ({ ...pool, back: pool.sent, back_age_ms: 0 }));

  test.each(["with its last link", "without a link", "with another link"])(
    "in the name of an agent, %s",
    async (how) => {
      for (const agent of agents) swarm.call(agent);
      await swarm.clock.run(10_000);
      for (let i = 0; i < 70; i++) {
        await swarm.clock.run(1_000);
        await impersonate((message) => {
          const { chain } = message;
          const other = { ...(chain as object), n: Number((chain as { n: number }).n) + 1 };
          return {
            pools: refunded(message),
            chain: how === "with its last link" ? chain : how === "with another link" ? other : undefined,
          };
        });
      }
      expect(swarm.largest(WINDOW_MS)).toBeLessThanOrEqual(LIMIT);
      await swarm.clock.run(WINDOW_MS);
      for (const { limiter } of agents) expect(limiter.status().members).toBe(AGENTS);
    },
  );

  test.each([
    ["that leaves the window before its refund", 0, 11],
    ["that it invented a window ago", 59_000, 0],
  ])("with usage %s", async (_, afterMs, bin) => {
    for (const agent of agents) swarm.call(agent, 2);
    await swarm.clock.run(WINDOW_MS + 10_000);
    const chain = new MessageChain();
    const bus = await memoryBus(swarm.broker, { clock: swarm.clock });
    let seq = 0;
    const invent = async (usage: object) => {
      const pools = [{ resource: RESOURCE, window_ms: WINDOW_MS, limits: [LIMIT], turn: 0, ...usage }];
      const head = { v: 1, agent_id: "x", life: 1, seq: ++seq, up_ms: 60_000, next_ms: 1_000, weight: 1, members: 6 };
      await bus.publish(PRESENCE_SUBJECT, chain.linked(bytes(JSON.stringify({ ...head, pools }))));
      await swarm.clock.run(1_000);
    };
    const used = Array.from({ length: 12 }, (_, b) => [b === bin ? 900 : 0]);
    if (afterMs > 0) await invent({});
    for (let ms = 0; ms <= afterMs; ms += 1_000) await invent({ sent: [900], used: [900], bins: used });
    for (let ms = 0; ms < WINDOW_MS; ms += 1_000) await invent({ sent: [900], back: [900] });
    expect(swarm.largest(WINDOW_MS)).toBeLessThanOrEqual(LIMIT);
  });
});

test("an agent that leaves is believed at once: its part goes to the others", async () => {
  await agents[0]?.limiter.close();
  await swarm.clock.run(100);
  for (const { limiter } of agents.slice(1)) expect(limiter.status().members).toBe(AGENTS - 1);
});
