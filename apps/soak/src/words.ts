import type { Leak } from "./options.ts";

export const BROKERS = ["nats", "redis", "kafka"] as const;
export type BrokerKind = (typeof BROKERS)[number];

/** What a process holds, by name. Bytes where the name begins with "memory", else counts. */
export type Holdings = Readonly<Record<string, number>>;

/** What an agent is started with. */
export interface AgentTask {
  readonly broker: BrokerKind;
  readonly url: string;
  readonly agentId: string;
  readonly provider: string;
  readonly capacity: number;
  readonly windowMs: number;
  /** How long things may take to come to rest. */
  readonly patienceMs: number;
  readonly leaks: readonly Leak[];
}

/**
 * What an agent is told to do: `churn` opens, uses and closes everything that can be; `measure` rests and says what the
 * process holds; `leave` closes everything and ends.
 */
export interface Order {
  readonly id: number;
  readonly act: "churn" | "measure" | "leave";
  /** No two have the same. */
  readonly round: number;
}

/** What an agent says, with times in milliseconds since 1970: all are on one machine. */
export type Word =
  | { readonly type: "state"; readonly mode: string; readonly members: number; readonly level: number }
  | { readonly type: "cut"; readonly at: number }
  | { readonly type: "refused"; readonly at: number }
  | { readonly type: "done"; readonly id: number; readonly holdings?: Holdings; readonly error?: string };
