import type { LevelCause, ObservedAgent, ObservedUse, SwarmEvent, SwarmSnapshot } from "@hivepace/distributed";
import type { Control, EndpointUsage, ProviderFacts } from "./dashboard-types.ts";

// What the server tells its pages, as JSON. Only types: the page and the server share them.
// Null stands for "no limit": JSON has no Infinity.

/** The first message of a connection: all that a page needs to begin. */
export interface Hello {
  readonly title: string;
  readonly namespace: string;
  /** What requests of controls must carry; absent when there are none. */
  readonly token?: string | undefined;
  readonly controls: readonly Omit<Control, "run">[];
  /** How far apart the points are, and how many are kept. */
  readonly pointMs: number;
  readonly maxPoints: number;
  /** How many resources have a history. */
  readonly maxTracked: number;
  readonly maxEvents: number;
  readonly update: Update;
}

/** Every further message: what is, and the points and events that the page has not seen. */
export interface Update {
  readonly frame: Frame;
  readonly points: readonly Point[];
  readonly events: readonly LoggedEvent[];
}

/** The swarm at one moment. */
export interface Frame extends Omit<SwarmSnapshot, "resources" | "keys" | "agents"> {
  /** By the wall clock of the server. */
  readonly at: number;
  readonly agents: readonly ObservedAgent[];
  readonly resources: readonly ResourceFrame[];
  readonly provider?: ProviderFacts | undefined;
  /** From the store. Absent without one: then the page shows what agents say. */
  readonly globalUsage?: readonly EndpointUsage[] | undefined;
  /** Why something could not be read; what is shown of it may be old. */
  readonly trouble?: string | undefined;
}

export interface ResourceFrame {
  readonly resource: string;
  readonly windowMs: number;
  readonly limits: readonly LimitFrame[];
  readonly level: number;
  readonly cause?: LevelCause | undefined;
  readonly pausedForMs: number;
  readonly risesInMs?: number | undefined;
  readonly agents: readonly ObservedUse[];
}

export interface LimitFrame {
  readonly dimension?: "requests" | "tokens" | "inputTokens" | "outputTokens" | undefined;
  readonly limit: number | null;
  readonly total: number | null;
  readonly used: number;
  readonly usedSince: number;
  readonly waiting: number;
}

/** One second of the past. */
export interface Point {
  /** Counts up from 1. */
  readonly seq: number;
  readonly at: number;
  readonly isBusReady: boolean;
  readonly members: number;
  readonly provider?: PointOfProvider | undefined;
  readonly resources: readonly PointOfResource[];
}

/** Accepted and refused since the point before. */
export interface PointOfProvider {
  readonly accepted: number;
  readonly rejected429: number;
  readonly usedRequests: number;
  readonly usedTokens: number;
}

export interface PointOfResource {
  readonly resource: string;
  readonly level: number;
  /** In the order of the resource's limits. */
  readonly limits: readonly PointOfLimit[];
}

export type PointOfLimit = readonly [
  limit: number | null,
  total: number | null,
  used: number,
  waiting: number,
  longestWaitMs: number,
];

/** What was heard of the swarm, and what buttons did. */
export interface LoggedEvent {
  readonly seq: number;
  readonly at: number;
  readonly event: SwarmEvent | ControlEvent;
}

export interface ControlEvent {
  readonly type: "control";
  readonly label: string;
  readonly text: string;
  readonly hasFailed: boolean;
}

/** The answer to a control's request. */
export type ControlAnswer = { readonly done: string } | { readonly error: string };
