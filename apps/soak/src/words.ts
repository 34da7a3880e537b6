import type { Leak } from "./options.ts";

export const BROKERS = ["nats", "redis", "kafka"] as const;
export type BrokerKind = (typeof BROKERS)[number];

/** The resources that a process holds, by name: bytes for names that begin with "memory", else counts. */
export type Holdings = Readonly<Record<string, number>>;

/** The arguments of an agent process. */
export interface AgentTask {
  readonly broker: BrokerKind;
  readonly url: string;
  readonly agentId: string;
  readonly provider: string;
  readonly capacity: number;
  readonly windowMs: number;
  /** Time limit for the process to settle before a measurement. */
  readonly patienceMs: number;
  readonly leaks: readonly Leak[];
}

/**
 * An order to an agent: `churn` opens, uses and closes every kind of resource; `measure` pauses the calls and returns
 * the held resources; `leave` closes everything and exits.
 */
export interface Order {
  readonly id: number;
  readonly act: "churn" | "measure" | "leave";
  /** Unique within a run. */
  readonly round: number;
}

/**
 * A message from an agent. Times are wall-clock milliseconds since 1970, comparable because all agents run on one
 * machine.
 */
export type Word =
  | { readonly type: "state"; readonly mode: string; readonly members: number; readonly level: number }
  | { readonly type: "cut"; readonly at: number }
  | { readonly type: "refused"; readonly at: number }
  | { readonly type: "done"; readonly id: number; readonly holdings?: Holdings; readonly error?: string };
