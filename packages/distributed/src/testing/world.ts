import type { AllocationReply, LimitObservation } from "@hivepace/core";
import type { Amounts, StoreRequest } from "../engine/index.ts";
import type { Endpoint } from "./endpoints.ts";

/** A call that an agent wants to send. */
export interface Call {
  readonly agent: number;
  readonly arrivedAt: number;
  /** The estimate and the real usage, in the limited dimensions. */
  readonly expected: Amounts;
  readonly actual: Amounts;
  /** The estimate and the real usage in tokens, even when tokens are not limited. */
  readonly tokens: { readonly expected: number; readonly actual: number };
  /** Index of the only endpoint that may take the call; undefined means any. */
  readonly endpoint: number | undefined;
  /** The tenant key on whose behalf the call is made. */
  readonly key: string | undefined;
  readonly givesUpAt: number;
  /** Index of the endpoint to which the call was sent. */
  sentTo: number;
  sentAt: number;
  tries: number;
}

/** The kind of a provider's answer: a result, 429, a server error, or 529. */
export type Outcome = "accepted" | "refused" | "failed" | "overloaded";

export interface Answer {
  readonly outcome: Outcome;
  readonly retryAfterMs?: number | undefined;
  /** Whether the call was refused because the quota of a long window is exhausted. */
  readonly isQuota?: boolean | undefined;
  /** The rate-limit headers, if the provider sends them. */
  readonly limits?: LimitObservation["limits"] | undefined;
}

/** The operations that agents of every scheme have in the simulated world. */
export interface World {
  readonly now: number;
  /** Limits of the first endpoint, the only one that engines and baselines know. */
  readonly limits: Amounts;
  readonly windowMs: number;
  readonly agents: number;
  readonly endpoints: readonly Endpoint[];
  /** Sends a call to the provider. The answer arrives later. */
  send(call: Call): void;
  /** Sends a message to all reachable agents, including the sender. */
  broadcast(from: number, message: unknown): void;
  /** Calls the store. The answer arrives later, or never. */
  allocate(from: number, ask: StoreRequest, answered: (reply: AllocationReply | undefined) => void): void;
  after(ms: number, run: () => void): void;
  random(): number;
}

/** An agent of any scheme. The world calls its methods, and the agent acts through the world. */
export interface Participant {
  start(): void;
  arrive(call: Call): void;
  answered(call: Call, answer: Answer): void;
  receive(message: unknown): void;
  /** Ends the agent, with a goodbye if `graceful`. No other method is called afterwards. */
  stop(graceful: boolean): void;
  /** Changes the limits of the first endpoint. */
  setLimits(limits: Amounts): void;
  /** Freezes and resumes the process. */
  pause?(): void;
  resume?(): void;
  /** The fraction of the limits that is left after cuts, 0 to 1. */
  level?(): number;
  /** Texts that are equal for agents with the same level, and for agents with the same limits. */
  levelText?(): string;
  limitsText?(): string;
  /** Number of waiting calls. */
  readonly waiting: number;
}
