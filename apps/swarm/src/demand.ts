import { seededRandom } from "@hivepace/core/testing";
import type { Plan } from "./plan.ts";

/** Standard deviation of the lognormal call sizes: one call in a hundred is eight times the median. */
const SIGMA = 0.9;
/** The amplitude of an agent's random demand changes, and their interval in windows. */
const SWING = 0.5;
const SWING_WINDOWS = 0.4;

/** The calls of a task, each of which depends on the previous one. */
export const TASK_CALLS = 20;
/** The provider's latency until an answer begins, typical of a fast model. */
export const LATENCY_MS = { least: 500, mean: 1_250, most: 2_000 } as const;
/** The duration of one call and the agent's own work after it, in a task that never waits. */
export const CYCLE_MS = 4_000;
const MOST_WORKERS = 64;

export const meanTokens = (medianTokens: number, mostTokens: number): number =>
  Math.min(medianTokens * Math.exp((SIGMA * SIGMA) / 2), mostTokens);

/** Returns an agent's demand in calls per second at this time of the run. Deterministic for a given seed. */
export function callsPerSecond(plan: Plan, agent: number, atMs: number): number {
  const { scenario, agents, rpm, tpm, windowMs, seed } = plan;
  const weights = Array.from({ length: agents }, (_, i) => scenario.weight(i, agents));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const part = scenario.weight(agent % agents, agents) / all;
  const limit = Math.min(rpm, tpm / meanTokens(plan.medianTokens, plan.mostTokens));
  const turn = Math.floor(atMs / (SWING_WINDOWS * windowMs));
  const swing = 1 + SWING * (2 * seededRandom(seed + 7_919 * (agent + 1) + turn)() - 1);
  return ((scenario.demand(Math.min(1, atMs / plan.durationMs)) * limit * part) / (windowMs / 1_000)) * swing;
}

/** The number of concurrent tasks that together make `calls` calls per second. */
export function workersFor(calls: number): number {
  return Math.max(1, Math.min(MOST_WORKERS, Math.round((calls * CYCLE_MS) / 1_000)));
}

/** Generates call sizes in tokens, lognormally distributed like those of real applications. */
export function tokenSizes(random: () => number, medianTokens: number, mostTokens: number): () => number {
  return () => {
    const [u, v] = [random(), random()];
    const normal = Math.sqrt(-2 * Math.log(1 - u)) * Math.cos(2 * Math.PI * v);
    return Math.round(Math.min(mostTokens, medianTokens * Math.exp(SIGMA * normal)));
  };
}
