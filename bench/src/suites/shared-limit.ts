import { writeFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { FakeProvider } from "@hivepace/provider";
import { Redis } from "ioredis";
import { commandsOf } from "../redis-commands.ts";
import type { Row } from "../row.ts";
import { startProvider, startServer } from "../servers.ts";
import { sharedLimitChart } from "../shared-limit/chart.ts";
import { Crowd } from "../shared-limit/crowd.ts";
import {
  type AgentTask,
  type ContenderName,
  contenderNames,
  fairShares,
  jain,
  type Phase,
  type PhaseResult,
  type Plan,
} from "../shared-limit/plan.ts";
import { quantile } from "../statistics.ts";
import type { FreeSuite, RunParameters } from "../suite.ts";

const AGENTS = 6;
const WINDOWS = { warmUp: 1, measured: 4, light: 2 };
const LIGHT_LOAD = 0.3;
const CHART = new URL("../results/shared-limit.svg", import.meta.url);

function planOf({ quick, seed }: RunParameters): Plan {
  const windowMs = quick ? 2_000 : 6_000;
  const providerLimit = windowMs / 10;
  return {
    agents: AGENTS,
    providerLimit,
    limit: providerLimit * 0.95,
    windowMs,
    // A total of 1.5 limits, most of it by two of six agents.
    wants: [0.6, 0.5, 0.2, 0.1, 0.07, 0.03],
    patienceMs: windowMs,
    seed,
  };
}

/** The result of one contender. */
export interface Outcome {
  readonly contender: ContenderName;
  /** Fractions of the provider's limit: accepted calls, and the maximum sent in any window. */
  readonly use: number;
  readonly peak: number;
  /** The refused fraction of all calls sent. */
  readonly refused: number;
  readonly fairness: number;
  /** Waits at 30 % of the limit, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly redisCommands: number;
}

async function measure(contender: ContenderName, plan: Plan, urls: { redis: string; nats: string }): Promise<Outcome> {
  const { windowMs, providerLimit, wants } = plan;
  const provider = await startProvider({ rpm: providerLimit, windowMs, logSize: 0 });
  const redis = new Redis(urls.redis);
  const name = `bench-${process.pid}-${contender.replace(/\W+/g, "-")}`;
  const task = { contender, plan, providerUrl: provider.url, redisUrl: urls.redis, natsUrl: urls.nats, name };
  const crowd = await Crowd.start(wants.map((_, index): AgentTask => ({ ...task, index })));
  const phases = (load: number, windows: number): Phase[] =>
    wants.map((want) => ({
      callsPerSecond: (load * want * providerLimit) / (windowMs / 1_000),
      ms: windows * windowMs,
    }));
  try {
    // Time for the agents to discover each other.
    await pause(4_000);
    await crowd.run(phases(1, WINDOWS.warmUp));
    const [before, commandsBefore] = [countsOf(provider), await commandsOf(redis)];
    const over = crowd.run(phases(1, WINDOWS.measured));
    await pause(WINDOWS.measured * windowMs);
    // Calls that still wait now are served after the end, and not counted.
    const [counts, commands] = [countsOf(provider, before), (await commandsOf(redis)) - commandsBefore];
    await over;
    await pause(windowMs);
    const sum = wants.reduce((all, want) => all + want, 0);
    const light = await crowd.run(phases(LIGHT_LOAD / sum, WINDOWS.light));
    return { contender, peak: provider.peak, ...figuresOf(counts, plan, commands), ...waitsOf(light) };
  } finally {
    await crowd.close();
    redis.disconnect();
    await provider.close();
  }
}

interface Count {
  readonly accepted: number;
  readonly refused: number;
}

/** The calls of each agent since the given counts. */
function countsOf(provider: Pick<FakeProvider, "agents">, since: readonly Count[] = []): Count[] {
  return Array.from({ length: AGENTS }, (_, i) => {
    const { accepted, rejected429 } = provider.agents.get(String(i)) ?? { accepted: 0, rejected429: 0 };
    const before = since[i] ?? { accepted: 0, refused: 0 };
    return { accepted: accepted - before.accepted, refused: rejected429 - before.refused };
  });
}

function figuresOf(counts: readonly Count[], { providerLimit, wants }: Plan, commands: number) {
  const accepted = counts.reduce((all, count) => all + count.accepted, 0);
  const refused = counts.reduce((all, count) => all + count.refused, 0);
  const fair = fairShares(wants);
  return {
    use: accepted / (providerLimit * WINDOWS.measured),
    refused: refused / (accepted + refused),
    fairness: jain(counts.map((count, i) => count.accepted / (fair[i] as number))),
    redisCommands: commands / (accepted + refused),
  };
}

function waitsOf(results: readonly PhaseResult[]): Pick<Outcome, "p50" | "p99"> {
  const waits = results.flatMap((result) => result.waits);
  return { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99) };
}

function rowsOf(outcome: Outcome): Row[] {
  const { contender, use, peak, refused, fairness, p50, p99, redisCommands } = outcome;
  const isOurs = contender.startsWith("Hivepace");
  const wanted = (direction: "at most" | "at least", limit: number) =>
    isOurs ? { wanted: { of: "value", direction, limit } as const } : {};
  return [
    { what: `${contender}: accepted`, value: use * 100, unit: "% of the limit", ...wanted("at least", 85) },
    {
      what: `${contender}: most sent in a window`,
      value: peak * 100,
      unit: "% of the limit",
      ...wanted("at most", 102),
    },
    { what: `${contender}: refused with 429`, value: refused * 100, unit: "% of the calls", ...wanted("at most", 1) },
    { what: `${contender}: fairness`, value: fairness, unit: "Jain's index", ...wanted("at least", 0.95) },
    { what: `${contender}: wait at ${LIGHT_LOAD * 100} % load, p50`, value: p50, unit: "ms" },
    { what: `${contender}: wait at ${LIGHT_LOAD * 100} % load, p99`, value: p99, unit: "ms" },
    { what: `${contender}: Redis commands a call`, value: redisCommands, unit: "", ...noteOf(contender) },
  ];
}

/** Redis also counts the commands of scripts. */
function noteOf(contender: ContenderName): { note?: string } {
  if (contender !== "bottleneck on Redis") return {};
  return { note: "including the commands of its scripts; a call is one or two scripts" };
}

export const sharedLimit: FreeSuite = {
  kind: "free",
  name: "shared-limit",
  title:
    "Six processes share an account with a strict provider, with an uneven total demand of 1.5 × its limit. All contenders except the first are configured with 95 % of the limit.",
  async measure(parameters) {
    const plan = planOf(parameters);
    await using redis = await startServer("redis");
    await using nats = await startServer("nats");
    const outcomes: Outcome[] = [];
    for (const contender of contenderNames)
      outcomes.push(await measure(contender, plan, { redis: redis.url, nats: nats.url }));
    if (!parameters.quick) await writeFile(fileURLToPath(CHART), sharedLimitChart(outcomes));
    return outcomes.flatMap(rowsOf);
  },
};
