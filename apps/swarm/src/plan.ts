import { meanTokens } from "./demand.ts";
import type { DemoOptions } from "./options.ts";
import type { Pacing } from "./rows.ts";
import { type Scenario, scenarios } from "./scenarios.ts";

/** All parameters of a run; the same plan creates the same load. */
export interface Plan {
  /** How the agents share the limit. */
  readonly pacing: Pacing;
  readonly scenario: Scenario;
  readonly agents: number;
  readonly seed: number;
  /** Duration of the run, on the demo's clock like all times here. */
  readonly durationMs: number;
  /** The window in which the provider counts: a minute. */
  readonly windowMs: number;
  /** The speed of the demo's clock relative to real time. */
  readonly speed: number;
  /** The provider's limits per window. */
  readonly rpm: number;
  readonly tpm: number;
  /** The fraction of the limit that agents are configured with, because the transit time of requests varies. */
  readonly margin: number;
  /** The median, mean and maximum tokens of a call. */
  readonly medianTokens: number;
  readonly meanTokens: number;
  readonly mostTokens: number;
  /** Steps of the recovery from a cut, instead of a hive's default. Only tests set this, to see that the verdict notices. */
  readonly recoveryIntervalMs?: number | undefined;
  /** Whether the agents receive each other's messages. Only tests disable this, to see that the verdict notices. */
  readonly isSharing: boolean;
}

const REQUESTS_PER_REAL_SECOND = 40;
const TOKENS_PER_REQUEST = 1_000;
/** The assumed variation of the real transit time from decision to provider, on a busy machine. */
const JITTER_MS = 400;
const LEAST_MARGIN = 0.06;
const MINUTE_MS = 60_000;
/** The real duration of a minute of the demo. */
const LAPSED_MINUTE_MS = { least: 4_000, most: 15_000 } as const;
/** Enough for a cut, the whole recovery from it, and some time before and after. */
const MINUTES_PER_RUN = 6;

export function planOf(options: Pick<DemoOptions, "agents" | "rpm" | "tpm" | "scenario" | "duration" | "seed">): Plan {
  const { agents, seed, duration } = options;
  const { least, most } = LAPSED_MINUTE_MS;
  const minuteMs = Math.min(most, Math.max(least, (duration * 1_000) / MINUTES_PER_RUN));
  const speed = MINUTE_MS / minuteMs;
  const rpm = options.rpm ?? Math.round((REQUESTS_PER_REAL_SECOND * minuteMs) / 1_000);
  const tpm = options.tpm ?? rpm * TOKENS_PER_REQUEST;
  const medianTokens = Math.max(60, (0.75 * tpm) / rpm);
  const mostTokens = Math.max(100, tpm / 20);
  return {
    pacing: "hive",
    scenario: scenarios[options.scenario],
    agents,
    seed,
    durationMs: duration * 1_000 * speed,
    windowMs: MINUTE_MS,
    speed,
    rpm,
    tpm,
    margin: 1 - Math.max(LEAST_MARGIN, JITTER_MS / minuteMs),
    // Tokens are slightly scarcer than requests: the mean call size is 1.5 times the median.
    medianTokens,
    meanTokens: meanTokens(medianTokens, mostTokens),
    mostTokens,
    isSharing: true,
  };
}
