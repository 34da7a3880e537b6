import { setTimeout as pause } from "node:timers/promises";
import { type OwnServer, startOwnServer } from "@hivepace/servers";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { afterEach, describe, expect, test } from "vitest";
import { CAPACITY_SUBJECT, PRESENCE_SUBJECT } from "../src/index.ts";
import { type FaultPlan, FaultySwarm } from "./support/process-faults.ts";

/**
 * Attacks and faults on processes and real brokers. The limit is asserted at any speed of the machine, with a tolerance for
 * calls that reach the provider late; utilization only with `HIVEPACE_FIGURES=1`, which also prints it, with windows of a
 * minute: about half an hour for both brokers.
 */
const MEASURES = process.env["HIVEPACE_FIGURES"] === "1";
const TOLERANCE = 1.1;
const PLAN = {
  agents: 5,
  ...(MEASURES ? { limit: 1_000, windowMs: 60_000 } : { limit: 200, windowMs: 10_000 }),
} as const;

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function start(server: OwnServer, plan: Pick<FaultPlan, "broker"> & Partial<FaultPlan>): Promise<FaultySwarm> {
  const swarm = await FaultySwarm.start(server, { ...PLAN, ...plan });
  open.push(() => swarm.close());
  // At first a window's worth is used at once; it takes some windows until the use is even.
  if (MEASURES) await pause(3 * swarm.plan.windowMs);
  return swarm;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function measured(name: string, value: number, least: number): void {
  if (!MEASURES) return;
  print(`${name}: ${value.toFixed(3)}`);
  expect(value, name).toBeGreaterThanOrEqual(least);
}

describe.each(["nats", "redis"] as const)("on a broker", (broker) => {
  describeOwnServer(broker, (server) => {
    type Spoken = Record<string, unknown> & { seq: number };
    const inPools = (message: Spoken, change: (pool: { sent?: number[] }) => object) => ({
      pools: ((message["pools"] ?? []) as { sent?: number[] }[]).map((pool) => ({ ...pool, ...change(pool) })),
    });
    const attacks: readonly [string, (message: Spoken) => object][] = [
      ["goodbyes", () => ({ bye: true })],
      ["the largest sequence numbers", () => ({ seq: Number.MAX_SAFE_INTEGER })],
      ["refunds", (message) => inPools(message, ({ sent }) => ({ back: sent, back_age_ms: 0 }))],
      ["the latest virtual time", (message) => inPools(message, () => ({ turn: Number.MAX_SAFE_INTEGER }))],
      ["new incarnations", (message) => ({ life: Number(message["life"]) + 1 })],
      ["tiny weights", () => ({ weight: 1e-6 })],
    ];

    test("a stranger that speaks for all agents makes no window larger, and the swarm heals", async () => {
      const swarm = await start(server(), { broker });
      const { bus, spoken, say } = await swarm.stranger();
      open.push(() => bus.close());
      for (const [name, change] of attacks) {
        const from = swarm.provider.log.length;
        for (const end = Date.now() + 10_000; Date.now() < end; await pause(100))
          for (const message of [...spoken.values()])
            for (const chain of [message["chain"], undefined])
              await say({ ...message, seq: message.seq + 1, chain, ...change(message) });
        if (MEASURES) print(`${broker}, ${name}: ${(swarm.provider.log.length - from) / PLAN.limit}`);
        expect(swarm.max, name).toBeLessThanOrEqual(TOLERANCE);
      }
      // The parts of silent agents are held for a window and 25 to 35 s.
      await pause(PLAN.windowMs + 40_000);
      measured(`${broker}: use two windows after the attacks`, await swarm.use(PLAN.windowMs), 0.8);
    });

    test("one message that claims the limit for an hour slows a swarm for a window", async () => {
      const swarm = await start(server(), { broker });
      const { bus, say } = await swarm.stranger();
      open.push(() => bus.close());
      const pool = { resource: "provider", window_ms: PLAN.windowMs, limits: [1], turn: 0 };
      const claim = { amounts: [PLAN.limit], next: [PLAN.limit], turn: 0, tie: 0 };
      const stranger = { v: 1, life: 1, seq: 1, up_ms: 60_000, next_ms: 3_600_000, weight: 1, members: 6 };
      await say({ ...stranger, agent_id: "x", pools: [pool] });
      await say({ ...stranger, agent_id: "y", pools: [{ ...pool, limits: [PLAN.limit], claim }] });
      await pause(PLAN.windowMs + 5_000);
      measured(`${broker}: use a window after the messages`, await swarm.use(PLAN.windowMs), 0.8);
    });

    test("signed messages that are replayed after a restart of everything change nothing", async () => {
      const secret = "a secret of this swarm alone";
      const swarm = await start(server(), { broker, secret });
      const { bus, recorded } = await swarm.stranger();
      open.push(() => bus.close());
      await pause(2_000);
      const replayed = [...recorded];
      expect(replayed.length).toBeGreaterThan(5);
      swarm.kill(PLAN.agents);
      swarm.startAgents();
      await swarm.settled(PLAN.agents);
      const before = swarm.provider.log.length;
      const startedAt = Date.now();
      for (let i = 0; i < 20; i++) {
        for (const payload of replayed) {
          await bus.publish(PRESENCE_SUBJECT, payload);
          await bus.publish(CAPACITY_SUBJECT, payload);
        }
        await pause(PLAN.windowMs / 10);
        expect(swarm.children.map(({ state }) => state?.members)).toEqual(Array(PLAN.agents).fill(PLAN.agents));
      }
      const usedSince = (count: number, time: number) =>
        ((swarm.provider.log.length - count) / PLAN.limit) * (PLAN.windowMs / (Date.now() - time));
      measured(`${broker}: use under replays`, usedSince(before, startedAt), 0.8);
    });

    test("a restart of everything with a store at hand", async () => {
      const redis = await startOwnServer("redis");
      open.push(() => redis.stop());
      const swarm = await start(server(), { broker, store: redis.url });
      swarm.kill(PLAN.agents);
      swarm.startAgents();
      await swarm.settled(PLAN.agents);
      const use = await swarm.use(PLAN.windowMs);
      if (MEASURES) print(`${broker}: largest window around a restart of everything: ${swarm.max}`);
      expect(swarm.max).toBeLessThanOrEqual(TOLERANCE);
      measured(`${broker}: use after a restart of everything`, use, 0.8);
    });

    test("the broker stands still for 20 s", async () => {
      const swarm = await start(server(), { broker });
      await server().pause();
      const meanwhile = await swarm.use(20_000);
      await server().resume();
      const after = await swarm.use(15_000);
      expect(swarm.max).toBeLessThanOrEqual(TOLERANCE);
      measured(`${broker}: use while the broker stands still`, meanwhile, 0.5);
      measured(`${broker}: use in the 15 s after`, after, 0.8);
    });

    test("messages take a second each way", async () => {
      const swarm = await start(server(), { broker, delayMs: 1_000 });
      await pause(PLAN.windowMs);
      const use = await swarm.use(PLAN.windowMs);
      expect(swarm.max).toBeLessThanOrEqual(TOLERANCE);
      measured(`${broker}: use with a second each way`, use, 0.9);
    });

    test("half of the agents are killed", async () => {
      const swarm = await start(server(), { broker, ...(MEASURES ? { limit: 250, windowMs: 15_000 } : {}) });
      swarm.kill(Math.floor(PLAN.agents / 2));
      const first = await swarm.use(15_000);
      await pause(5_000);
      const later = await swarm.use(15_000);
      expect(swarm.max).toBeLessThanOrEqual(TOLERANCE);
      if (MEASURES) print(`${broker}: use in the 15 s after half of the agents are killed: ${first.toFixed(3)}`);
      // Their part is held free for a window and 25 to 35 s: docs/decisions/0017.
      measured(`${broker}: use from 20 s on`, later, 0.4);
    });
  });
});
