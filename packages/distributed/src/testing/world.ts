import type { ShareReply } from "@hivepace/core";
import type { Amounts } from "../engine/amounts.ts";
import type { Ask } from "../engine/ask.ts";

/** A call that an agent wants to send. */
export interface Call {
  readonly agent: number;
  readonly arrivedAt: number;
  /** What it is expected to use, and what it will. */
  readonly expected: Amounts;
  readonly actual: Amounts;
  readonly givesUpAt: number;
  sentAt: number;
  tries: number;
}

export interface Answer {
  readonly accepted: boolean;
  readonly retryAfterMs?: number | undefined;
}

/** What an agent, of whatever scheme, can do in the simulated world. */
export interface World {
  readonly now: number;
  readonly limits: Amounts;
  readonly windowMs: number;
  readonly agents: number;
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
  setLimits(limits: Amounts): void;
  /** Calls that wait. */
  readonly waiting: number;
}
