import type { Allocator } from "./allocator.ts";

/**
 * A store in which instances add up their usage: each reports its own counts and receives the sums over all instances.
 * Redis and memory are the implementations.
 *
 * An implementation must hold these rules:
 *
 * - A window is `[n, n + 1) × windowMs` since 1970 by the store's own clock, and by no other.
 * - A count is absolute: the total that one incarnation of an agent has counted for a name in a window. It replaces the
 *   earlier report of that incarnation. A repeated report, or an older one after a newer one, changes nothing.
 * - A report for another window than the store's present one changes nothing, but is answered.
 * - A count stays until its window ends, even if its agent stops. No count stays much longer than its window.
 * - Every call ends in bounded time. A call that rejects may have been counted; reporting again is always safe.
 *
 * Calls may overlap. Namespaces, kinds, ids and models may be any text; different names never share a count. A store
 * that can also grant limits piece by piece implements `Allocator` as well.
 */
export interface SyncStore extends AsyncDisposable, Partial<Allocator> {
  /** The store's name for messages: "redis". */
  readonly name: string;
  /**
   * Reports counts and reads sums in one exchange.
   *
   * @throws SYNC_UNAVAILABLE or SYNC_CLOSED, as a rejection
   */
  sync(report: SyncReport): Promise<SyncReply>;
  /** Closes the connections that the store opened itself. Further calls have no effect. */
  close(): Promise<void>;
}

/** A name under which usage is counted. Reuse the object: stores cache their form of the name by object identity. */
export interface SyncName {
  /** "endpoint", or another word of lower-case letters; names of different kinds never share a count. */
  readonly kind: string;
  readonly id: string;
  /**
   * Model of the endpoint.
   *
   * @defaultValue "default"
   */
  readonly model?: string | undefined;
}

/** The total that one incarnation has counted for a name in the present window. */
export interface SyncCount {
  readonly of: SyncName;
  /** Requests and tokens: whole numbers of 0 or more. */
  readonly requests: number;
  readonly tokens: number;
}

/** One instance's counts, and the names whose sums it asks for. */
export interface SyncReport {
  readonly namespace: string;
  readonly agentId: string;
  /**
   * A value that differs at each start of an agent, so that the counts of a restarted agent add to its earlier ones.
   */
  readonly incarnation: string;
  /**
   * Sequence number of the report, by which the store recognises late ones; grows with every report of an incarnation.
   */
  readonly sequence: number;
  /** Length of a window; all instances that count the same names must use the same value. */
  readonly windowMs: number;
  /**
   * The window of these counts by the store's clock. Undefined while the window is unknown: the store then counts
   * nothing and only returns its time.
   */
  readonly window: number | undefined;
  /** Counts that have changed since the last report. */
  readonly counts: readonly SyncCount[];
  /** Names whose sums are read without reporting a count. */
  readonly watched: readonly SyncName[];
}

/** A store's reply. */
export interface SyncReply {
  /** The store's clock at the time of the reply, in milliseconds since 1970, with fractions. */
  readonly epochMs: number;
  /** The store's present window, to which the sums belong. */
  readonly window: number;
  /** One sum for each of `counts` and then of `watched`, in the same order. */
  readonly sums: readonly SyncSum[];
}

/** The total that all instances have counted for a name in the present window. */
export interface SyncSum {
  readonly requests: number;
  readonly tokens: number;
  /** Number of incarnations that have reported a count. */
  readonly agents: number;
  /** The reporting incarnation's own part of the sum; undefined when it has reported none. */
  readonly own: { readonly requests: number; readonly tokens: number } | undefined;
  /** Why this name has no sum although others have theirs. All numbers are 0 then. */
  readonly error: string | undefined;
}
