import type { SwarmMode } from "@hivepace/distributed";
import type { Family } from "../metrics/family.ts";
import type { Pacing } from "../scenarios.ts";

/** What an agent is told when it starts. Plain data: it travels to a thread or a process. */
export interface AgentTask {
  readonly agentId: string;
  readonly pacing: Pacing;
  /** Where the others are; see `@hivepace/open-bus`. */
  readonly bus: string;
  readonly namespace: string;
  readonly providerUrl: string;
  /** For all agents together, in each window. */
  readonly rpm: number;
  readonly tpm: number;
  readonly windowMs: number;
  readonly heartbeatMs: number;
  readonly recoveryIntervalMs: number;
  readonly medianTokens: number;
  readonly mostTokens: number;
  readonly seed: number;
  readonly callsPerSecond: number;
  /** Its bus goes nowhere from the start on. */
  readonly isCutOff: boolean;
  /** Calls that wait already. */
  readonly backlog: number;
  /** It may be asked for its metrics. */
  readonly isMeasured: boolean;
}

/** What the demo says to a thread or process; it may have several agents. */
export type Order =
  | { readonly type: "start"; readonly tasks: readonly AgentTask[] }
  /** Calls in a second from now on. */
  | { readonly type: "demand"; readonly agentId: string; readonly callsPerSecond: number }
  /** Its bus goes nowhere, unnoticed; or does again. */
  | { readonly type: "reach"; readonly isCutOff: boolean }
  /** What its agents have measured; the answer has the number of the question. */
  | { readonly type: "measure"; readonly question: number }
  | { readonly type: "stop" };

export interface Counts {
  /** What it wanted to send, since its start. */
  readonly wantedCalls: number;
  readonly wantedTokens: number;
  /** Calls that ended with an answer, or without one after all retries. */
  readonly answered: number;
  readonly failed: number;
  /** Not begun, because too many were waiting already. */
  readonly shed: number;
  readonly pending: number;
}

export interface AgentState extends Counts {
  readonly mode: SwarmMode;
  readonly members: number;
  /** What is left of the limit, 0 to 1. */
  readonly level: number;
  /** Its part of what all may use now, and what it used in the last window: in limits. */
  readonly share: number;
  readonly used: number;
  readonly waiting: number;
}

/** What agents say. Times are in milliseconds since 1970, to fractions: all are on one machine. */
export type Word =
  | { readonly type: "started"; readonly agentId: string }
  | { readonly type: "state"; readonly agentId: string; readonly state: AgentState }
  /** It has cut its part of the limit: because it was refused itself, or because another agent says so. */
  | { readonly type: "reduced"; readonly agentId: string; readonly at: number; readonly by: string }
  | Measured
  | { readonly type: "failed"; readonly agentId: string; readonly message: string };

/** The answer to "measure". */
export interface Measured {
  readonly type: "measured";
  readonly agentId: string;
  readonly question: number;
  readonly families: readonly Family[];
}
