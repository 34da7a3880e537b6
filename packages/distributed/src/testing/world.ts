import type { LimitObservation, ShareReply } from "@hivepace/core";
import type { Amounts } from "../engine/amounts.ts";
import type { Ask } from "../engine/ask.ts";
import type { Endpoint } from "./endpoints.ts";

/** A call that an agent wants to send. */
export interface Call {
  readonly agent: number;
  readonly arrivedAt: number;
  /** The estimate and the real usage, in the dimensions that are limited. */
  readonly expected: Amounts;
  readonly actual: Amounts;
  /** The estimate and the real usage in tokens, also when tokens are not limited. */
  readonly tokens: { readonly expected: number; readonly actual: number };
  /** Index of the only endpoint that may take it; undefined: any of them. */
  readonly endpoint: number | undefined;
  /** The tenant key that pays for it. */
  readonly key: string | undefined;
  readonly givesUpAt: number;
  /** Index of the endpoint that it was sent to. */
  sentTo: number;
  sentAt: number;
  tries: number;
}

/** How a provider answers: with a result, 429, a server error, or 529. */
export type Outcome = "accepted" | "refused" | "failed" | "overloaded";

export interface Answer {
  readonly outcome: Outcome;
  readonly retryAfterMs?: number | undefined;
  /** The rate-limit headers, where the provider sends them. */
  readonly limits?: LimitObservation["limits"] | undefined;
}

/** What an agent, of whatever scheme, can do in the simulated world. */
export interface World {
  readonly now: number;
  /** Limits of the first endpoint, the only one that engines and baselines know. */
  readonly limits: Amounts;
  readonly windowMs: number;
  readonly agents: number;
  readonly endpoints: readonly Endpoint[];
  /** Sends a call to the provider; the answer comes later. */
  send(call: Call): void;
  /** To all agents, itself included, as far as they can be reached. */
  broadcast(from: number, message: unknown): void;
  /** Calls the store; the answer comes later, or none does. */
  share(from: number, ask: Ask, answered: (reply: ShareReply | undefined) => void): void;
  after(ms: number, run: () => void): void;
  random(): number;
}

/** An agent of some scheme. It is told what happens and acts through the world. */
export interface Participant {
  start(): void;
  arrive(call: Call): void;
  answered(call: Call, answer: Answer): void;
  hear(message: unknown): void;
  /** Says goodbye, when it can. After this nothing comes. */
  stop(graceful: boolean): void;
  /** The limits of the first endpoint are others now. */
  setLimits(limits: Amounts): void;
  /** The process stands still, and goes on. */
  pause?(): void;
  resume?(): void;
  /** The part of the limits that is left after cuts, 0 to 1. */
  level?(): number;
  /** The same text for agents that have the same level, and for those that have the same limits. */
  levelText?(): string;
  limitsText?(): string;
  /** Calls that wait. */
  readonly waiting: number;
}
