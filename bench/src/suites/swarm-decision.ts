import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { memoryBroker, memoryBus } from "@hivepace/bus";
import { MemoryLimiter } from "@hivepace/core";
import { seededRandom } from "@hivepace/core/testing";
import { createDistributedLimiter, createHive, type DistributedLimiter, type Hive } from "@hivepace/distributed";
import { shuffled } from "../random.ts";
import type { Row } from "../row.ts";
import { median, ratiosOf } from "../statistics.ts";
import type { FreeSuite } from "../suite.ts";

const AGENTS = 10;
/** A limit that is never reached: every call is granted. */
const LIMIT = 1e12;
const OPEN = "open";
/** An exhausted resource. */
const FULL = "full";
const RESOURCES = 100;
/** Calls between two turns of the event loop, in which agents receive messages. */
const BATCH = 2_000;

async function startAgents(): Promise<DistributedLimiter[]> {
  const broker = memoryBroker();
  const limiters: DistributedLimiter[] = [];
  for (let i = 0; i < AGENTS; i++)
    limiters.push(
      await createDistributedLimiter({ bus: await memoryBus(broker), agentId: `agent-${i}`, expectedAgents: AGENTS }),
    );
  for (const limiter of limiters) {
    limiter.setCapacity(OPEN, LIMIT, 60_000);
    limiter.setCapacity(FULL, 1, 86_400_000);
    for (let i = 2; i < RESOURCES; i++) limiter.setCapacity(`resource-${i}`, LIMIT, 60_000);
  }
  while (limiters.some((limiter) => limiter.status().mode !== "member" || limiter.status().members < AGENTS))
    await pause(20);
  await limiters[0]?.acquire(FULL);
  return limiters;
}

/** Starts several hives on a separate bus. */
async function startHives(): Promise<Hive[]> {
  const broker = memoryBroker();
  const hives: Hive[] = [];
  for (let i = 0; i < AGENTS; i++)
    hives.push(
      await createHive({
        bus: memoryBus(broker),
        namespace: "bench",
        agentId: `hive-${i}`,
        expectedAgents: AGENTS,
        endpoints: Array.from({ length: RESOURCES }, (_, j) => ({ id: `endpoint-${j}`, rpmLimit: 1e7, tpmLimit: 4e9 })),
        limitsForKey: () => ({ rpmLimit: 1e7, tpmLimit: 4e9 }),
        windowMs: 1_000,
      }),
    );
  while (hives.some((hive) => hive.status().mode !== "member" || hive.status().members < AGENTS)) await pause(20);
  return hives;
}

/** Nanoseconds per call during `ms` of continuous calls, including all background work. */
async function busy(ms: number, call: () => boolean, expected: boolean): Promise<number> {
  const start = performance.now();
  let calls = 0;
  while (performance.now() - start < ms) {
    for (let i = 0; i < BATCH; i++)
      if (call() !== expected) throw new Error(`a call was ${expected ? "denied" : "granted"} that should not be`);
    calls += BATCH;
    await nextTurn();
  }
  return ((performance.now() - start) * 1e6) / calls;
}

export const swarmDecision: FreeSuite = {
  kind: "free",
  name: "swarm-decision",
  title: `One request in a swarm of ${AGENTS} agents with ${RESOURCES} limits, decided without the network.`,
  async measure({ rounds, quick, seed }) {
    const local = new MemoryLimiter();
    local.setCapacity(OPEN, LIMIT, 60_000);
    const limiters = await startAgents();
    const [agent] = limiters as [DistributedLimiter];
    const hives = await startHives();
    const [hive] = hives as [Hive];
    const request = { endpoint: "endpoint-0", key: "acme", tokens: 100 };
    const calls = {
      local: () => local.tryAcquire(OPEN),
      granted: () => agent.tryAcquire(OPEN),
      denied: () => agent.tryAcquire(FULL),
      lease: () => {
        const { lease } = hive.tryAcquire(request);
        lease?.done();
        return lease !== undefined;
      },
    };
    const times: Record<keyof typeof calls, number[]> = { local: [], granted: [], denied: [], lease: [] };
    const random = seededRandom(seed);
    for (let round = -1; round < rounds; round++)
      for (const who of shuffled(["local", "granted", "denied", "lease"] as const, random)) {
        const ns = await busy(quick ? 100 : 500, calls[who], who !== "denied");
        if (round >= 0) times[who].push(ns);
      }
    await Promise.all([...limiters, ...hives].map((each) => each.close()));
    await local.close();
    const against = "MemoryLimiter.tryAcquire";
    const row = (what: string, who: "granted" | "denied" | "lease"): Row => ({
      what,
      value: median(times[who]),
      unit: "ns",
      against,
      ratio: ratiosOf(times[who], times.local),
    });
    return [
      { what: against, value: median(times.local), unit: "ns" },
      row("DistributedLimiter.tryAcquire, granted", "granted"),
      row("DistributedLimiter.tryAcquire, denied", "denied"),
      row("Hive.tryAcquire and done: key, endpoint, requests and tokens", "lease"),
    ];
  },
};
