import { seededRandom } from "@hivepace/core/testing";
import type { Plan } from "./plan.ts";

/** The spread of the sizes of calls: one in a hundred is eight times the median. */
const SIGMA = 0.9;
/** How far an agent's demand goes up and down by itself, and how often it changes, in windows. */
const SWING = 0.5;
const SWING_WINDOWS = 0.4;
/** What is there when all start, in windows of steady demand. */
const BACKLOG = 0.25;

export const meanTokens = (medianTokens: number, mostTokens: number): number =>
  Math.min(medianTokens * Math.exp((SIGMA * SIGMA) / 2), mostTokens);

/** How many calls an agent begins in a second, at this time of the run. The same for the same seed. */
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

/** How many calls an agent has waiting when it starts with all others. */
export function backlogOf(plan: Plan, agent: number): number {
  return Math.round((callsPerSecond(plan, agent, 0) * BACKLOG * plan.windowMs) / 1_000);
}

/** Sizes of calls in tokens: lognormal, as real ones are. */
export function tokenSizes(random: () => number, medianTokens: number, mostTokens: number): () => number {
  return () => {
    const [u, v] = [random(), random()];
    const normal = Math.sqrt(-2 * Math.log(1 - u)) * Math.cos(2 * Math.PI * v);
    return Math.round(Math.min(mostTokens, medianTokens * Math.exp(SIGMA * normal)));
  };
}
