import type { Plan } from "../plan.ts";
import type { ScenarioName } from "../scenarios.ts";
import { jainIndex } from "./fairness.ts";
import type { Wanted } from "./swarm.ts";

/** The results of a run, as `--json` prints them. */
export interface Figures {
  /** The provider's limits per window. */
  readonly limit: { readonly rpm: number; readonly tpm: number; readonly windowMs: number };
  /** The speed of the demo's clock; all figures use that clock. */
  readonly speed: number;
  readonly sent: number;
  readonly accepted: number;
  readonly rejected429: number;
  /** The accepted fraction of the provider's limit, after the first window. */
  readonly utilization: number;
  /** The maximum sent in any window, accepted or not, as a fraction of the limit. */
  readonly maxWindowRatio: number;
  /** Jain's index of fairness over all agents. */
  readonly jain: number;
  readonly reductions: number;
  readonly recoveries: number;
  /** The number of agents that took part. */
  readonly agents: number;
  readonly bus: string;
  readonly scenario: ScenarioName;
  readonly seed: number;
}

/** The provider's totals for one agent. */
export interface Served {
  readonly accepted: number;
  readonly tokens: number;
}

/**
 * Fairness of rates, since agents run for different times. The size of a call is its fraction of the scarcest limit.
 */
export function fairness(plan: Plan, wanted: readonly Wanted[], served: ReadonlyMap<string, Served>): number {
  const size = (calls: number, tokens: number) => Math.max(calls / plan.rpm, tokens / plan.tpm);
  // Agents that ran for less than a window are excluded: they had no time to get their share.
  const there = wanted.filter(({ aliveMs }) => aliveMs >= plan.windowMs);
  const got = there.map(({ agentId, aliveMs }) => {
    const { accepted, tokens } = served.get(agentId) ?? { accepted: 0, tokens: 0 };
    return size(accepted, tokens) / aliveMs;
  });
  return jainIndex(
    got,
    there.map(({ calls, tokens, aliveMs }) => size(calls, tokens) / aliveMs),
  );
}

/** Accumulates the limits and accepted calls of a provider while the limits change. Time is an argument. */
export class Use {
  #since: { readonly at: number; readonly accepted: number; readonly tokens: number } | undefined;
  #allowedRequests = 0;
  #allowedTokens = 0;
  #requests = 0;
  #tokens = 0;

  constructor(readonly windowMs: number) {}

  /** Adds the interval since the previous call, to which the limits of `limits` apply. */
  sample(at: number, limits: { rpm: number; tpm: number }, counts: Served): void {
    const before = this.#since;
    this.#since = { at, accepted: counts.accepted, tokens: counts.tokens };
    if (before === undefined) return;
    const windows = (at - before.at) / this.windowMs;
    this.#allowedRequests += windows * limits.rpm;
    this.#allowedTokens += windows * limits.tpm;
    this.#requests += counts.accepted - before.accepted;
    this.#tokens += counts.tokens - before.tokens;
  }

  get utilization(): number {
    if (this.#allowedRequests === 0) return 0;
    return Math.max(this.#requests / this.#allowedRequests, this.#tokens / this.#allowedTokens);
  }
}
