import type {
  LevelCause,
  ObservedAgent,
  ObservedDimension,
  ObservedUse,
  SwarmEvent,
  SwarmSnapshot,
} from "@hivepace/distributed";
import type { Control, EndpointUsage, ProviderFacts } from "./dashboard-types.ts";

// The messages from the server to its pages, as JSON. Types only, shared by the page and the server. Null stands for
// "no limit", because JSON has no Infinity.

/** The first message of a connection, with the whole state. */
export interface Hello {
  readonly title: string;
  readonly namespace: string;
  /** The token that control requests must carry; absent without controls. */
  readonly token?: string | undefined;
  readonly controls: readonly Omit<Control, "run">[];
  /** Interval of the points, and the number of points kept. */
  readonly pointMs: number;
  readonly maxPoints: number;
  /** The maximum number of resources with a history. */
  readonly maxTracked: number;
  readonly maxEvents: number;
  readonly update: Update;
}

/** Every further message: the current state, and the new points and events. */
export interface Update {
  readonly frame: Frame;
  readonly points: readonly Point[];
  readonly events: readonly LoggedEvent[];
}

/** The swarm at one moment. */
export interface Frame extends Omit<SwarmSnapshot, "resources" | "keys" | "agents"> {
  /** Wall-clock time of the server. */
  readonly at: number;
  readonly agents: readonly ObservedAgent[];
  readonly resources: readonly ResourceFrame[];
  /** The tenant keys in the worst condition, the worst first, and the number of all keys in use. */
  readonly keys: readonly ResourceFrame[];
  readonly keyCount: number;
  readonly provider?: ProviderFacts | undefined;
  /** Usage from the store. Absent without a store. */
  readonly globalUsage?: readonly EndpointUsage[] | undefined;
  /** The errors of sources that could not be read; their data may be old. */
  readonly trouble?: string | undefined;
}

export interface ResourceFrame {
  readonly resource: string;
  /** Marks a tenant key; absent for an endpoint. */
  readonly isKey?: true;
  readonly windowMs: number;
  readonly limits: readonly LimitFrame[];
  readonly level: number;
  readonly cause?: LevelCause | undefined;
  readonly pausedForMs: number;
  readonly risesInMs?: number | undefined;
  readonly agents: readonly ObservedUse[];
}

export interface LimitFrame {
  readonly dimension?: ObservedDimension | undefined;
  readonly limit: number | null;
  readonly total: number | null;
  readonly used: number;
  readonly usedSince: number;
  readonly waiting: number;
}

/** One second of the history. */
export interface Point {
  /** Counts up from 1. */
  readonly seq: number;
  readonly at: number;
  readonly isBusReady: boolean;
  readonly members: number;
  readonly provider?: PointOfProvider | undefined;
  readonly resources: readonly PointOfResource[];
}

/** Requests accepted and refused since the previous point, and usage of the current window. */
export interface PointOfProvider {
  readonly accepted: number;
  readonly rejected429: number;
  readonly usedRequests: number;
  readonly usedTokens: number;
}

export interface PointOfResource {
  readonly resource: string;
  readonly level: number;
  /** The points of the resource's limits, in their order. */
  readonly limits: readonly PointOfLimit[];
}

export type PointOfLimit = readonly [
  limit: number | null,
  total: number | null,
  used: number,
  waiting: number,
  longestWaitMs: number,
];

/** An event of the swarm, or the outcome of a button. */
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

/** The response to a control request. */
export type ControlAnswer = { readonly done: string } | { readonly error: string };
