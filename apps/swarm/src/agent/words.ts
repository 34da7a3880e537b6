import type { SwarmMode } from "@hivepace/distributed";
import type { Family } from "../metrics/family.ts";
import type { Pacing } from "../rows.ts";

/** The task of an agent. Plain data, because it is sent to a thread or a process. */
export interface AgentTask {
  readonly agentId: string;
  readonly pacing: Pacing;
  /** The address of the bus, as `openBus` of `@hivepace/open-bus` takes it. */
  readonly bus: string;
  readonly namespace: string;
  readonly providerUrl: string;
  /** Limits per window: of the whole swarm, or the agent's share of an equal split. */
  readonly rpm: number;
  readonly tpm: number;
  readonly windowMs: number;
  readonly recoveryIntervalMs: number | undefined;
  /** The speed of the demo's clock, and the wall-clock time at which it agreed with the real clock. */
  readonly speed: number;
  readonly epochMs: number;
  readonly medianTokens: number;
  readonly meanTokens: number;
  readonly mostTokens: number;
  readonly seed: number;
  readonly callsPerSecond: number;
  /** Whether the agent starts disconnected from the bus. */
  readonly isCutOff: boolean;
  /** Whether the demo may request the agent's metrics. */
  readonly isMeasured: boolean;
}

/** A message from the demo to a thread or process, which may run several agents. */
export type Order =
  | { readonly type: "start"; readonly tasks: readonly AgentTask[] }
  /** Changes an agent's demand, in calls per second. */
  | { readonly type: "demand"; readonly agentId: string; readonly callsPerSecond: number }
  /** Silently cuts the agents' connection to the bus, or restores it. */
  | { readonly type: "reach"; readonly isCutOff: boolean }
  /** Requests the metrics of the host's agents; each answer carries the number of the question. */
  | { readonly type: "measure"; readonly question: number }
  /** Ends one agent without closing its hive: simulates a crash that leaves the other agents of the thread running. */
  | { readonly type: "crash"; readonly agentId: string }
  | { readonly type: "stop" };

export interface Counts {
  /** The calls and tokens of the agent's demand since its start, as if no call had waited. */
  readonly wantedCalls: number;
  readonly wantedTokens: number;
  /** Calls that ended with an answer, and calls that failed after all retries. */
  readonly answered: number;
  readonly failed: number;
  readonly tasksFinished: number;
  readonly tasksFailed: number;
  /** Answered calls of tasks that failed later, and the tokens of those calls. */
  readonly wastedCalls: number;
  readonly wastedTokens: number;
  readonly pending: number;
}

export interface AgentState extends Counts {
  readonly mode: SwarmMode;
  readonly members: number;
  /** The level of the agent's limit, from 0 to 1. */
  readonly level: number;
  /** The agent's current share, and its usage of the last window, both as fractions of the limit. */
  readonly share: number;
  readonly used: number;
  readonly waiting: number;
}

/**
 * A message from an agent. Times are wall-clock milliseconds since 1970 with fractions, comparable because all agents
 * run on one machine.
 */
export type Word =
  | { readonly type: "started"; readonly agentId: string }
  | {
      readonly type: "state";
      readonly agentId: string;
      readonly state: AgentState;
      /** Latencies of the calls answered since the last state, in milliseconds. */
      readonly latencies: readonly number[];
    }
  /** The agent reduced its limit, after a refusal of its own or a report of the agent `by`. */
  | { readonly type: "reduced"; readonly agentId: string; readonly at: number; readonly by: string }
  | Measured
  | { readonly type: "failed"; readonly agentId: string; readonly message: string };

/** The answer to a `measure` order. */
export interface Measured {
  readonly type: "measured";
  readonly agentId: string;
  readonly question: number;
  readonly families: readonly Family[];
}
