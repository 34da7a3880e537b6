/**
 * What is read of the objects whose state is measured. Hives, distributed and memory limiters, global views and rate
 * managers have it; so may anything else.
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

/** What is absent is not measured. */
export interface ObservedStatus {
  /** "closed" ends the observation. */
  readonly mode?: string | undefined;
  readonly namespace?: string | undefined;
  readonly bus?: string | undefined;
  readonly members?: number | undefined;
  readonly viewAgeMs?: number | undefined;
  readonly isDuplicate?: boolean | undefined;
  /** How long ago the store said which part is this agent's. */
  readonly storeAgeMs?: number | undefined;
  readonly sync?: ObservedSync | undefined;
  readonly resources?: readonly ObservedResource[] | undefined;
  readonly endpoints?: readonly ObservedEndpoint[] | undefined;
  /** Of a global view by itself. */
  readonly state?: string | undefined;
  readonly ageMs?: number | undefined;
}

/** How the exchange with the store goes. */
export interface ObservedSync {
  readonly ageMs: number;
}

/** A resource of a limiter: it has one limit. */
export interface ObservedResource {
  readonly resource: string;
  readonly total: number;
  readonly configured?: number | undefined;
  readonly share?: number | undefined;
  readonly level?: number | undefined;
  readonly pausedForMs?: number | undefined;
  readonly inFlight?: number | undefined;
  readonly waiting: number;
}

/** An endpoint of a hive: it may have several limits. */
export interface ObservedEndpoint {
  readonly endpoint: string;
  readonly model?: string | undefined;
  readonly level: number;
  readonly pausedForMs: number;
  readonly waiting: number;
  readonly inFlight: number;
  readonly limits: readonly ObservedLimit[];
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

/** What a rate manager has counted of an endpoint. */
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
  readonly maxInFlight: number;
}
