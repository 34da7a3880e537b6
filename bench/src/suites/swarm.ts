import { setTimeout as pause } from "node:timers/promises";
import type { MessageBus } from "@hivepace/bus";
import { seededRandom } from "@hivepace/core/testing";
import { createDistributedLimiter, type DistributedLimiter } from "@hivepace/distributed";
import { brokers, type Link } from "../bus-links.ts";
import { shuffled } from "../random.ts";
import type { Row } from "../row.ts";
import { startServer } from "../servers.ts";
import { median, ratiosOf } from "../statistics.ts";
import type { FreeSuite, RunParameters } from "../suite.ts";

const AGENTS = 4;
const RESOURCE = "provider";
const WATCHED_MS = 10_000;
/** After this time, no agent retransmits earlier messages. */
const QUIET_MS = 250;

interface Agent {
  readonly bus: MessageBus;
  readonly limiter: DistributedLimiter;
}

async function startAgents(open: (address: string) => Promise<MessageBus>, address: string): Promise<Agent[]> {
  const agents: Agent[] = [];
  for (let i = 0; i < AGENTS; i++) {
    const bus = await open(address);
    const limiter = await createDistributedLimiter({ bus, agentId: `agent-${i}`, cooldownMs: 0 });
    limiter.setCapacity(RESOURCE, 1_000, 60_000);
    agents.push({ bus, limiter });
  }
  while (agents.some(({ limiter }) => limiter.status().members < AGENTS)) await pause(10);
  return agents;
}

/** The time from an agent's announcement until the last of the others has cut; microseconds, the median. */
async function announcement(agents: readonly Agent[], times: number): Promise<number> {
  const [first, ...others] = agents as [Agent, ...Agent[]];
  const took: number[] = [];
  for (let i = 0; i < times; i++) {
    let missing = others.length;
    const stops: (() => void)[] = [];
    const heard = new Promise<void>((resolve) => {
      for (const { limiter } of others)
        stops.push(limiter.onCapacityChange(({ reason }) => reason === "429" && --missing === 0 && resolve()));
    });
    const start = performance.now();
    first.limiter.announceReduced(RESOURCE, "429");
    await heard;
    took.push((performance.now() - start) * 1_000);
    for (const stop of stops) stop();
    // Other messages of the agents must not be in flight when the next measurement begins.
    await pause(QUIET_MS);
  }
  return median(took);
}

/** The same path with the bare client: the time until the last subscriber has the bytes. */
async function latency(link: Link, times: number): Promise<number> {
  const took: number[] = [];
  for (let i = 0; i < times; i++) {
    let missing = AGENTS - 1;
    const arrived = new Promise<void>((resolve) => {
      link.onMessage = () => --missing === 0 && resolve();
    });
    const start = performance.now();
    const sent = link.send(new Uint8Array(350));
    await arrived;
    took.push((performance.now() - start) * 1_000);
    await sent;
    await pause(QUIET_MS);
  }
  return median(took);
}

/** The cost of idle or busy agents: messages, bytes, and the fraction of a core. */
async function watch(agents: readonly Agent[], what: string, isBusy: boolean): Promise<Row[]> {
  const aborting = new AbortController();
  const { signal } = aborting;
  const call = async ({ limiter }: Agent): Promise<void> => {
    while (!signal.aborted) await limiter.acquire(RESOURCE, { signal }).catch(() => {});
  };
  const calls = isBusy ? agents.flatMap((agent) => [1, 2, 3, 4].map(() => call(agent))) : [];
  await pause(WATCHED_MS / 2);
  const count = () =>
    agents.reduce(
      ([messages, bytes], { limiter }) => {
        const { published, publishedBytes } = limiter.status();
        return [messages + published, bytes + publishedBytes] as const;
      },
      [0, 0] as readonly [number, number],
    );
  const before = count();
  const cpu = process.cpuUsage();
  await pause(WATCHED_MS);
  const { user, system } = process.cpuUsage(cpu);
  const after = count();
  aborting.abort();
  await Promise.all(calls);
  const perSecond = (sum: number) => sum / AGENTS / (WATCHED_MS / 1_000);
  return [
    { what: `${what}: messages a second`, value: perSecond(after[0] - before[0]), unit: "" },
    { what: `${what}: bytes a second`, value: perSecond(after[1] - before[1]), unit: "B" },
    { what: `${what}: time on a core in a second`, value: perSecond(user + system), unit: "µs" },
  ];
}

async function measureBroker(
  { kind, raw, bus }: (typeof brokers)[number],
  { rounds, quick, seed }: RunParameters,
): Promise<Row[]> {
  await using server = await startServer(kind);
  const link = await raw(server.url, AGENTS - 1);
  const agents = await startAgents(bus, server.url);
  const random = seededRandom(seed);
  const times = { raw: [] as number[], ours: [] as number[] };
  const each = quick ? 4 : 10;
  try {
    for (let round = -1; round < rounds; round++) {
      for (const who of shuffled(["raw", "ours"] as const, random)) {
        const took = who === "raw" ? await latency(link, each) : await announcement(agents, each);
        if (round >= 0) times[who].push(took);
      }
    }
    const bare = `${kind} client, publish to the last of ${AGENTS - 1}`;
    const what = `${kind}, a 429 to the last of ${AGENTS} agents`;
    const ratio = ratiosOf(times.ours, times.raw);
    return [
      { what: bare, value: median(times.raw), unit: "µs" },
      {
        what,
        value: median(times.ours),
        unit: "µs",
        against: bare,
        ratio,
        wanted: { of: "ratio", direction: "at most", limit: 1.5 },
      },
      ...(quick ? [] : await watch(agents, `${kind}, an idle agent of ${AGENTS}`, false)),
      ...(quick ? [] : await watch(agents, `${kind}, a busy agent of ${AGENTS}`, true)),
    ];
  } finally {
    await Promise.all(agents.map(({ limiter }) => limiter.close()));
    await Promise.all([link.close(), ...agents.map((agent) => agent.bus.close())]);
  }
}

export const swarm: FreeSuite = {
  kind: "free",
  name: "swarm",
  title:
    "Agents that share a limit over each broker: the time until they learn of a 429, and the cost of their messages.",
  async measure(parameters) {
    const rows: Row[] = [];
    for (const broker of brokers) rows.push(...(await measureBroker(broker, parameters)));
    return rows;
  },
};
