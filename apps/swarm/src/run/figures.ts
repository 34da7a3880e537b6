import type { Plan } from "../plan.ts";
import type { ScenarioName } from "../scenarios.ts";
import { jainIndex } from "./fairness.ts";
import type { Wanted } from "./swarm.ts";

/** What came of a run: what `--json` prints. */
export interface Figures {
  /** The provider's, in each of its windows. */
  readonly limit: { readonly rpm: number; readonly tpm: number; readonly windowMs: number };
  readonly sent: number;
  readonly accepted: number;
  readonly rejected429: number;
  /** What was accepted of what the provider allowed, after the first window. */
  readonly utilization: number;
  /** The most that was sent in any window, accepted or not, in limits. */
  readonly maxWindowRatio: number;
  /** How even the agents that wanted more than there was were served. */
  readonly jain: number;
  readonly reductions: number;
  readonly recoveries: number;
  /** That took part. */
  readonly agents: number;
  readonly bus: string;
  readonly scenario: ScenarioName;
  readonly seed: number;
}

/** What one agent had accepted in all. */
export interface Served {
  readonly accepted: number;
  readonly tokens: number;
}

/** Fairness as a rate, for not all are there from the start to the end; a call's size is its part of the scarcest limit. */
export function fairness(plan: Plan, wanted: readonly Wanted[], served: ReadonlyMap<string, Served>): number {
  const size = (calls: number, tokens: number) => Math.max(calls / plan.rpm, tokens / plan.tpm);
  // Who was there for less than a window had no time to have its part.
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

/** Adds up what a provider allows and accepts, while its limits change. Time is an argument. */
export class Use {
  #since: { readonly at: number; readonly accepted: number; readonly tokens: number } | undefined;
  #allowedRequests = 0;
  #allowedTokens = 0;
  #requests = 0;
  #tokens = 0;

  constructor(readonly windowMs: number) {}

  /** From one look to the next the limits are those of the first. */
  look(at: number, limits: { rpm: number; tpm: number }, counts: Served): void {
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
