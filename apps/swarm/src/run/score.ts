import type { Tally } from "@hivepace/provider";
import type { Pacing } from "../rows.ts";
import type { Swarm } from "./swarm.ts";

/** One row of the table: the results of the common load. */
export interface Score {
  readonly row: Pacing;
  readonly tasksFinished: number;
  readonly tasksFailed: number;
  /** Calls without an answer after all retries. */
  readonly callsFailed: number;
  /** Requests that the provider refused, and answered calls of tasks that failed later. */
  readonly wastedCalls: number;
  /** Tokens of the answered calls of tasks that failed later. */
  readonly wastedTokens: number;
  /** Latency of answered calls, including all waits and retries; null when there was none. */
  readonly latencyP50Ms: number | null;
  readonly latencyP99Ms: number | null;
  /** The fraction of the provider's limit that was accepted, after the first window. */
  readonly utilization: number;
}

export function scoreOf(
  row: Pacing,
  swarm: Pick<Swarm, "total" | "latency">,
  { rejected429 }: Pick<Tally, "rejected429">,
  utilization: number,
): Score {
  const latency = (part: number) => {
    const ms = swarm.latency(part);
    return ms === undefined ? null : Math.round(ms);
  };
  return {
    row,
    tasksFinished: swarm.total("tasksFinished"),
    tasksFailed: swarm.total("tasksFailed"),
    callsFailed: swarm.total("failed"),
    wastedCalls: rejected429 + swarm.total("wastedCalls"),
    wastedTokens: swarm.total("wastedTokens"),
    latencyP50Ms: latency(0.5),
    latencyP99Ms: latency(0.99),
    utilization: Math.round(utilization * 1_000) / 1_000,
  };
}
