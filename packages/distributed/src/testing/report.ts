import type { Drive } from "./options.ts";

/** Figures of one endpoint or one key, as plain data. */
export interface PartFigures {
  /** Accepted usage as a fraction of the configured limit, in the dimension with the highest usage. */
  readonly use: number;
  /** Accepted usage as a fraction of the amount that the provider allowed. */
  readonly useOfAllowed: number;
  /** The largest amount sent in any window, in limits. */
  readonly max: number;
  readonly sent: number;
  readonly accepted: number;
  readonly refused: number;
  readonly failed: number;
  readonly wait: { readonly p50: number; readonly p90: number; readonly p99: number };
}

/** The outcome of a run, as plain data. */
export interface SwarmReport {
  readonly scheme: string;
  /** The code that ran. */
  readonly drive: Drive;
  readonly seed: number;
  readonly agents: number;
  readonly durationMs: number;
  /** Accepted usage as a fraction of the configured limit, in the dimension with the highest usage. */
  readonly use: number;
  /**
   * Accepted usage as a fraction of the amount that the provider really allowed, which is below the limit during a
   * fault.
   */
  readonly useOfAllowed: number;
  /** The largest amount sent in any window, cold start included, in limits. */
  readonly max: number;
  /** Like `max`, without calls that were refused earlier: how far above the limit any single attempt reached. */
  readonly peak: number;
  readonly sent: number;
  readonly accepted: number;
  readonly refused: number;
  /** Calls that the provider answered with a server error or an overload. */
  readonly failed: number;
  /** Figures of each endpoint and of each key, by name. */
  readonly endpoints: Readonly<Record<string, PartFigures>>;
  readonly keys: Readonly<Record<string, PartFigures>>;
  /** Jain's fairness index of the amounts that busy agents got (1 is perfectly fair), and the number of busy agents. */
  readonly jain: number;
  readonly busyAgents: number;
  /** Waiting time of the calls that were sent, in milliseconds. */
  readonly wait: { readonly p50: number; readonly p90: number; readonly p99: number };
  /** The longest time for which an agent had waiting calls and sent none, in windows. */
  readonly longestGap: number;
  readonly messagesPerAgentSecond: number;
  /** Calls to the store per agent and second, and how often the store began to learn a quota. */
  readonly storeCallsPerAgentSecond: number;
  readonly learnings: number;
  /**
   * Number of cuts of the level, and the longest time until all agents that could receive its announcement knew the
   * cut.
   */
  readonly cuts: number;
  readonly cutSpreadMs: number;
  /** Number of different levels, and of different limits, among the agents at the end. */
  readonly levels: number;
  readonly limits: number;
  /** The longest time from the start of a late agent, or from its first call, to the first call sent. */
  readonly joinMs: number;
  /** The largest amount sent within 50 ms, as a multiple of the mean. */
  readonly busiestTick: number;
  /** A hash of every event and effect, see `Trace`: equal for the same seed and the same decisions. */
  readonly trace: string;
  /** Accepted usage in each second, as a fraction of the limit per second. */
  readonly seconds: readonly number[];
  /** Number of calls that the provider refused in each second. */
  readonly refusedSeconds: readonly number[];
  /** The lowest level of any agent at the end of each second. */
  readonly levelSeconds: readonly number[];
  /** The amount that each agent got, from `measureFrom` on. */
  readonly served: readonly number[];
  /** The amount that each agent wanted to send, from `measureFrom` on. */
  readonly offered: readonly number[];
}

/** The figures of a report that the recorder computes. */
export type Figures = Pick<
  SwarmReport,
  | "use"
  | "useOfAllowed"
  | "failed"
  | "max"
  | "peak"
  | "sent"
  | "accepted"
  | "refused"
  | "jain"
  | "busyAgents"
  | "wait"
  | "longestGap"
  | "trace"
  | "seconds"
  | "refusedSeconds"
  | "served"
  | "offered"
  | "joinMs"
  | "busiestTick"
>;

/** The fraction of the limit that was used between two times, in milliseconds. */
export function useBetween({ seconds }: SwarmReport, from: number, to: number): number {
  const part = seconds.slice(Math.floor(from / 1000), Math.floor(to / 1000));
  return part.reduce((sum, use) => sum + use, 0) / part.length;
}
