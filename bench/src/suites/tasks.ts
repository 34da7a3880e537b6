import { setTimeout as pause } from "node:timers/promises";
import { AGENTS, type Contender, hivepace, plain } from "../bad-days/contenders.ts";
import type { Day } from "../bad-days/days.ts";
import { type Behaviour, startBadProvider } from "../bad-days/provider.ts";
import type { Row } from "../row.ts";
import { quantile } from "../statistics.ts";
import type { FreeSuite } from "../suite.ts";

/** Dependent calls of a task. A task fails when one of them fails for good. */
const CALLS = 20;
/** Tasks that each agent works on at a time. Their calls want several times the limit. */
const TASKS = 4;
/** Calls that the provider allows in any window. */
const LIMIT = 300;
const WINDOW_MS = 5_000;

interface Outcome {
  readonly finished: number;
  readonly failed: number;
  readonly answeredPerSecond: number;
  /** Requests that were refused, or that belong to a task that failed. */
  readonly wasted: number;
  readonly p50: number;
  readonly p99: number;
}

/** A provider whose limit counts refused requests too, as OpenAI's does. */
function strict(): () => Behaviour {
  const times: number[] = [];
  return () => {
    const now = performance.now();
    while (times.length > 0 && (times[0] as number) <= now - WINDOW_MS) times.shift();
    times.push(now);
    return times.length > LIMIT ? { kind: "limited", retryAfterS: 1 } : { kind: "ok" };
  };
}

async function measure(open: (urls: readonly string[]) => Contender | Promise<Contender>, runMs: number) {
  const startedAt = performance.now();
  const provider = await startBadProvider(strict(), () => startedAt);
  const contender = await open([provider.url]);
  try {
    // The hives first receive each other's messages.
    await pause(2_500);
    return await drive(contender, runMs, () => provider.sent);
  } finally {
    await contender.close();
    await provider.close();
  }
}

/** Works on tasks for the run. Tasks under way at its end are not counted. */
async function drive({ callers }: Contender, runMs: number, sentOf: () => number): Promise<Outcome> {
  const endAt = performance.now() + runMs;
  const latencies: number[] = [];
  const underWay = new Set<{ answered: number }>();
  let failed = 0;
  let answered = 0;
  const work = async (call: (model: string) => Promise<unknown>): Promise<void> => {
    while (performance.now() < endAt) {
      const task = { answered: 0 };
      underWay.add(task);
      const from = performance.now();
      try {
        for (; task.answered < CALLS && performance.now() < endAt; task.answered++) {
          await call("small");
          answered++;
        }
        if (task.answered < CALLS) return;
        latencies.push(performance.now() - from);
      } catch {
        failed++;
      }
      underWay.delete(task);
    }
  };
  const workers = Array.from({ length: AGENTS * TASKS }, (_, i) =>
    work(callers[i % AGENTS] as (typeof callers)[number]),
  );
  await Promise.race([Promise.all(workers), pause(runMs + 2_000)]);
  const finished = latencies.length;
  const open = [...underWay].reduce((sum, task) => sum + task.answered, 0);
  const [p50, p99] = finished > 0 ? [quantile(latencies, 0.5), quantile(latencies, 0.99)] : [Infinity, Infinity];
  const answeredPerSecond = (answered * 1_000) / runMs;
  return { finished, failed, answeredPerSecond, wasted: Math.max(0, sentOf() - finished * CALLS - open), p50, p99 };
}

function rowsOf(
  name: string,
  { finished, failed, answeredPerSecond, wasted, p50, p99 }: Outcome,
  best: number | undefined,
): Row[] {
  const wanted = best === undefined ? {} : { wanted: { of: "value", direction: "at least", limit: best } as const };
  return [
    { what: `${name}: tasks finished`, value: finished, unit: "", ...wanted },
    { what: `${name}: tasks failed`, value: failed, unit: "" },
    { what: `${name}: calls answered in a second`, value: answeredPerSecond, unit: "" },
    { what: `${name}: wasted requests`, value: wasted, unit: "" },
    ...(finished === 0
      ? []
      : [
          { what: `${name}: a task, p50`, value: p50, unit: "ms" },
          { what: `${name}: a task, p99`, value: p99, unit: "ms" },
        ]),
  ];
}

export const tasks: FreeSuite = {
  kind: "free",
  name: "tasks",
  title: `Agents with the SDKs of OpenAI and Anthropic work on tasks of ${CALLS} dependent calls, at a provider that allows ${LIMIT} calls in ${WINDOW_MS / 1_000} seconds and counts refused ones: with Hivepace, and with the SDKs' own retries.`,
  async measure({ quick }) {
    const runMs = quick ? 20_000 : 60_000;
    const day: Day = { name: "tasks", endpoints: () => [], perWindow: LIMIT * 0.95, windowMs: WINDOW_MS };
    const ours = await measure((urls) => hivepace(urls, day), runMs);
    const theirs = await measure(plain, runMs);
    return [...rowsOf("Hivepace", ours, theirs.finished), ...rowsOf("plain SDK", theirs, undefined)];
  },
};
