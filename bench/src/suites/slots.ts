import { setTimeout as pause } from "node:timers/promises";
import { seededRandom } from "@hivepace/core/testing";
import { Redis } from "ioredis";
import { commandsOf } from "../redis-commands.ts";
import type { Row } from "../row.ts";
import { startServer } from "../servers.ts";
import { type SlotContender, type SlotPlan, slotContenders } from "../slots/contenders.ts";
import { median, quantile } from "../statistics.ts";
import type { FreeSuite, RunParameters } from "../suite.ts";

const PLAN: SlotPlan = { agents: 6, callers: 2, slots: 5 };
/** Durations of the calls: short ones show the cost of a slot, long ones are those of a model. */
const LOADS: readonly (readonly [number, number])[] = [
  [10, 30],
  [200, 600],
];
/** Time for the agents to discover each other. */
const JOIN_MS = 4_000;

interface LoadOutcome {
  readonly callsPerSecond: number;
  readonly most: number;
  readonly commandsPerCall: number;
}

interface Outcome {
  /** In the order of `LOADS`. */
  readonly loads: readonly LoadOutcome[];
  readonly aloneMs: number;
  readonly aloneP99Ms: number;
}

async function measureContender(contender: SlotContender, redis: Redis, parameters: RunParameters): Promise<Outcome> {
  await pause(JOIN_MS);
  const alone = await waitsAlone(contender, parameters.quick ? 12 : 60);
  const loads: LoadOutcome[] = [];
  for (const callMs of LOADS) loads.push(await measureLoad(contender, redis, callMs, parameters));
  return { loads, aloneMs: median(alone), aloneP99Ms: quantile(alone, 0.99) };
}

/** All callers want a slot all the time. */
async function measureLoad(
  contender: SlotContender,
  redis: Redis,
  [shortest, longest]: readonly [number, number],
  { quick, seed }: RunParameters,
): Promise<LoadOutcome> {
  const random = seededRandom(seed);
  const measuredMs = quick ? 4_000 : 15_000;
  let underWay = 0;
  let most = 0;
  let ended = 0;
  let isOver = false;
  const call = async (): Promise<void> => {
    most = Math.max(most, ++underWay);
    await pause(shortest + (longest - shortest) * random());
    underWay--;
    ended++;
  };
  const caller = async (agent: number): Promise<void> => {
    while (!isOver) await contender.run(agent, call);
  };
  const callers = Array.from({ length: PLAN.agents * PLAN.callers }, (_, i) => caller(i % PLAN.agents));
  await pause(measuredMs / 4);
  const [endedBefore, commandsBefore, from] = [ended, await commandsOf(redis), performance.now()];
  await pause(measuredMs);
  const [calls, commands] = [ended - endedBefore, (await commandsOf(redis)) - commandsBefore];
  const seconds = (performance.now() - from) / 1_000;
  isOver = true;
  await Promise.all(callers);
  return { callsPerSecond: calls / seconds, most, commandsPerCall: commands / calls };
}

/** The waits of single calls while nothing else is under way, in milliseconds. */
async function waitsAlone(contender: SlotContender, calls: number): Promise<number[]> {
  const waits: number[] = [];
  for (let i = 0; i < calls; i++) {
    const from = performance.now();
    await contender.run(i % PLAN.agents, async () => {
      waits.push(performance.now() - from);
    });
    await pause(5);
  }
  return waits;
}

function rowsOf(name: string, note: string | undefined, outcome: Outcome, others: Outcome | undefined): Row[] {
  const { loads, aloneMs, aloneP99Ms } = outcome;
  const isOurs = others !== undefined;
  const wanted = (direction: "at most" | "at least", limit: number) =>
    isOurs ? { wanted: { of: "value", direction, limit } as const } : {};
  return [
    ...loads.flatMap(({ callsPerSecond, most, commandsPerCall }, i): Row[] => {
      const of = `calls of ${durationOf(LOADS[i])}`;
      const best = others?.loads[i];
      return [
        {
          what: `${name}: ${of}, a second`,
          value: callsPerSecond,
          unit: "",
          ...(note === undefined || i > 0 ? {} : { note }),
          ...wanted("at least", best?.callsPerSecond ?? 0),
        },
        { what: `${name}: ${of}, most under way`, value: most, unit: "", ...wanted("at most", PLAN.slots) },
        {
          what: `${name}: ${of}, Redis commands for each`,
          value: commandsPerCall,
          unit: "",
          ...wanted("at most", best?.commandsPerCall ?? 0),
        },
      ];
    }),
    {
      what: `${name}: a call alone waits, p50`,
      value: aloneMs * 1_000,
      unit: "µs",
      ...wanted("at most", (others?.aloneMs ?? 0) * 1_000),
    },
    { what: `${name}: a call alone waits, p99`, value: aloneP99Ms * 1_000, unit: "µs" },
  ];
}

function durationOf([shortest, longest] = [0, 0] as readonly [number, number]): string {
  return `${shortest} to ${longest} ms`;
}

/** The best of each figure. */
function bestOf(outcomes: readonly Outcome[]): Outcome {
  return {
    loads: LOADS.map((_, i) => {
      const loads = outcomes.flatMap((outcome) => outcome.loads[i] ?? []);
      return {
        callsPerSecond: Math.max(...loads.map(({ callsPerSecond }) => callsPerSecond)),
        most: PLAN.slots,
        commandsPerCall: Math.min(...loads.map(({ commandsPerCall }) => commandsPerCall)),
      };
    }),
    aloneMs: Math.min(...outcomes.map(({ aloneMs }) => aloneMs)),
    aloneP99Ms: Math.min(...outcomes.map(({ aloneP99Ms }) => aloneP99Ms)),
  };
}

export const slots: FreeSuite = {
  kind: "free",
  name: "slots",
  title: `${PLAN.agents} agents share ${PLAN.slots} slots over Redis; ${PLAN.agents * PLAN.callers} callers want one all the time, with calls of ${LOADS.map(durationOf).join(" and of ")}. A call alone: nothing else is under way. Hivepace has to be at least as good as the best of the others in each row.`,
  async measure(parameters) {
    const outcomes: Outcome[] = [];
    for (const { open } of slotContenders) {
      // A server of its own, so that nothing of one contender counts for another.
      await using server = await startServer("redis");
      const redis = new Redis(server.url);
      const contender = await open(server.url, PLAN);
      try {
        outcomes.push(await measureContender(contender, redis, parameters));
      } finally {
        await contender.close();
        redis.disconnect();
      }
    }
    const [, ...others] = outcomes;
    const best = bestOf(others);
    return outcomes.flatMap((outcome, i) => {
      const { name, note } = slotContenders[i] as (typeof slotContenders)[number];
      return rowsOf(name, note, outcome, i === 0 ? best : undefined);
    });
  },
};
