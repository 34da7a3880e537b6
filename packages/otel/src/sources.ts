/**
 * The part of an object that is read to measure its state. Hives, distributed and memory limiters, global views and
 * rate managers provide it; any other object may.
 */
export type Observed = HasStatus | HasSnapshot;

/** A hive or a limiter. */
export interface HasStatus {
  status(): ObservedStatus;
}

/** A rate manager. */
export interface HasSnapshot {
  snapshot(options: { keys: false }): { readonly endpoints: readonly ObservedCount[] };
}

/** The state of an object. Absent fields are not measured. */
export interface ObservedStatus {
  /** The mode of the agent; "closed" ends the observation. */
  readonly mode?: string | undefined;
  readonly namespace?: string | undefined;
  readonly bus?: string | undefined;
  readonly members?: number | undefined;
  readonly viewAgeMs?: number | undefined;
  readonly isDuplicate?: boolean | undefined;
  /** Milliseconds since the store last allocated a share to this agent. */
  readonly storeAgeMs?: number | undefined;
  readonly sync?: ObservedSync | undefined;
  readonly resources?: readonly ObservedResource[] | undefined;
  readonly endpoints?: readonly ObservedEndpoint[] | undefined;
  /** The state of a stand-alone global view; "closed" ends the observation. */
  readonly state?: string | undefined;
  readonly ageMs?: number | undefined;
}

/** The state of the exchange with the store. */
export interface ObservedSync {
  readonly ageMs: number;
}

/** A resource of a limiter, which has one limit. */
export interface ObservedResource {
  readonly resource: string;
  readonly total: number;
  readonly configured?: number | undefined;
  readonly share?: number | undefined;
  readonly level?: number | undefined;
  readonly pausedForMs?: number | undefined;
  readonly inFlight?: number | undefined;
  readonly waiting: number;
  readonly slots?: ObservedSlots | undefined;
}

/** An endpoint of a hive, which may have several limits. */
export interface ObservedEndpoint {
  readonly endpoint: string;
  readonly model?: string | undefined;
  readonly level: number;
  readonly pausedForMs: number;
  readonly waiting: number;
  readonly inFlight: number;
  readonly availability?: { readonly state: string } | undefined;
  readonly limits: readonly ObservedLimit[];
  readonly slots?: ObservedSlots | undefined;
}

/** Calls of all agents in flight, for an endpoint or resource that limits their number. */
export interface ObservedSlots {
  readonly limit: number;
  readonly used: number;
  readonly usedHere: number;
}

/** One limit of an endpoint. */
export interface ObservedLimit {
  readonly dimension: string;
  readonly limit: number;
  readonly total: number;
  readonly used: number;
  readonly usedHere: number;
  readonly share: number;
}

/** The counters of one endpoint in a rate manager. */
export interface ObservedCount {
  readonly id: string;
  readonly model?: string | undefined;
  readonly requests: number;
  readonly tokens: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly inFlight: number;
  readonly rpmLimit: number;
  readonly tpmLimit: number;
  readonly inputTpmLimit: number;
  readonly outputTpmLimit: number;
  readonly maxInFlightPerProcess: number;
}
