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
const CALL_MS: readonly [number, number] = [10, 30];
/** Time for the agents to discover each other. */
const JOIN_MS = 4_000;

interface Outcome {
  readonly callsPerSecond: number;
  readonly most: number;
  readonly commandsPerCall: number;
  readonly aloneMs: number;
  readonly aloneP99Ms: number;
}

async function measureContender(
  contender: SlotContender,
  redis: Redis,
  { quick, seed }: RunParameters,
): Promise<Outcome> {
  await pause(JOIN_MS);
  const alone = await waitsAlone(contender, quick ? 50 : 300);
  const random = seededRandom(seed);
  const measuredMs = quick ? 4_000 : 15_000;
  let underWay = 0;
  let most = 0;
  let ended = 0;
  let isOver = false;
  const call = async (): Promise<void> => {
    most = Math.max(most, ++underWay);
    await pause(CALL_MS[0] + (CALL_MS[1] - CALL_MS[0]) * random());
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
  return {
    callsPerSecond: calls / seconds,
    most,
    commandsPerCall: commands / calls,
    aloneMs: median(alone),
    aloneP99Ms: quantile(alone, 0.99),
  };
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
  const { callsPerSecond, most, commandsPerCall, aloneMs, aloneP99Ms } = outcome;
  const isOurs = others !== undefined;
  const wanted = (direction: "at most" | "at least", limit: number) =>
    isOurs ? { wanted: { of: "value", direction, limit } as const } : {};
  return [
    {
      what: `${name}: calls a second`,
      value: callsPerSecond,
      unit: "",
      ...(note === undefined ? {} : { note }),
      ...wanted("at least", others?.callsPerSecond ?? 0),
    },
    { what: `${name}: most calls under way`, value: most, unit: "", ...wanted("at most", PLAN.slots) },
    {
      what: `${name}: a call alone waits, p50`,
      value: aloneMs * 1_000,
      unit: "µs",
      ...wanted("at most", (others?.aloneMs ?? 0) * 1_000),
    },
    { what: `${name}: a call alone waits, p99`, value: aloneP99Ms * 1_000, unit: "µs" },
    {
      what: `${name}: Redis commands for each call`,
      value: commandsPerCall,
      unit: "",
      ...wanted("at most", others?.commandsPerCall ?? 0),
    },
  ];
}

export const slots: FreeSuite = {
  kind: "free",
  name: "slots",
  title: `${PLAN.agents} agents share ${PLAN.slots} slots over Redis; calls take ${CALL_MS[0]} to ${CALL_MS[1]} ms, and ${PLAN.agents * PLAN.callers} callers want one all the time. Hivepace has to be at least as good as the best of the others in each row.`,
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
    const best: Outcome = {
      callsPerSecond: Math.max(...others.map(({ callsPerSecond }) => callsPerSecond)),
      most: PLAN.slots,
      commandsPerCall: Math.min(...others.map(({ commandsPerCall }) => commandsPerCall)),
      aloneMs: Math.min(...others.map(({ aloneMs }) => aloneMs)),
      aloneP99Ms: Math.min(...others.map(({ aloneP99Ms }) => aloneP99Ms)),
    };
    return outcomes.flatMap((outcome, i) => {
      const { name, note } = slotContenders[i] as (typeof slotContenders)[number];
      return rowsOf(name, note, outcome, i === 0 ? best : undefined);
    });
  },
};
