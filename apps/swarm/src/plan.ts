import type { DemoOptions } from "./options.ts";
import { type Scenario, scenarios } from "./scenarios.ts";

/** All that a run is made of; the same plan makes the same load. */
export interface Plan {
  readonly scenario: Scenario;
  readonly agents: number;
  readonly seed: number;
  readonly durationMs: number;
  /** What the provider counts in: the demo's minute. */
  readonly windowMs: number;
  /** The provider's limits, in each window. */
  readonly rpm: number;
  readonly tpm: number;
  /** Of these the agents are told this part: a request takes its time on the way, and not always the same. */
  readonly margin: number;
  /** The median of a call's tokens, and the most. */
  readonly medianTokens: number;
  readonly mostTokens: number;
  readonly heartbeatMs: number;
  readonly recoveryIntervalMs: number;
  /** Agents hear each other. Only tests turn this off, to see that the verdict notices. */
  readonly isSharing: boolean;
}

const REQUESTS_PER_SECOND = 30;
const TOKENS_PER_REQUEST = 2_000;
/** So long may the way from a decision to the provider be longer than usual, on a machine that has other work to do. */
const JITTER_MS = 400;
const LEAST_MARGIN = 0.06;
/** What the product takes by default; the demo's minutes are shorter. */
const REAL_RECOVERY_MS = 30_000;
const WINDOWS = { least: 2_500, most: 15_000 } as const;
/** Eight steps of a tenth lead from one half to the whole, within two windows. */
const RECOVERY_STEPS_PER_WINDOW = 4;

export function planOf(options: Pick<DemoOptions, "agents" | "rpm" | "tpm" | "scenario" | "duration" | "seed">): Plan {
  const { agents, seed, duration } = options;
  const durationMs = duration * 1_000;
  const windowMs = Math.min(WINDOWS.most, Math.max(WINDOWS.least, durationMs / 4));
  const rpm = options.rpm ?? Math.round((REQUESTS_PER_SECOND * windowMs) / 1_000);
  const tpm = options.tpm ?? rpm * TOKENS_PER_REQUEST;
  return {
    scenario: scenarios[options.scenario],
    agents,
    seed,
    durationMs,
    windowMs,
    rpm,
    tpm,
    margin: 1 - Math.max(LEAST_MARGIN, JITTER_MS / windowMs),
    // Tokens are a little scarcer than requests: the mean of the sizes is 1.5 times their median.
    medianTokens: Math.max(60, (0.75 * tpm) / rpm),
    mostTokens: Math.max(100, tpm / 20),
    heartbeatMs: Math.min(1_000, Math.max(250, windowMs / 10)),
    recoveryIntervalMs: windowMs / RECOVERY_STEPS_PER_WINDOW,
    isSharing: true,
  };
}

/** How many times faster than by default it recovers. */
export function speedUp({ recoveryIntervalMs }: Plan): number {
  return REAL_RECOVERY_MS / recoveryIntervalMs;
}
