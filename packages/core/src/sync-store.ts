import type { ShareStore } from "./share-store.ts";

/**
 * Where instances leave what they have counted, and get what all of them together have: a Redis, or memory.
 *
 * What an implementation owes:
 *
 * - A window is `[n, n + 1) × windowMs` since 1970 by the store's own clock, and by no other.
 * - A count is absolute: what one incarnation of an agent has counted of a thing in a window. It replaces what that
 *   incarnation had left before. The same report twice, or an older one after a newer one, changes nothing.
 * - A report for another window than the store's present one changes nothing. It is answered all the same.
 * - What is left in a window stays until its end, whatever becomes of who left it. Nothing stays much longer.
 * - Every call ends in bounded time. One that rejects may have been counted; reporting again is always safe.
 *
 * Calls may overlap. Namespaces, kinds, ids and models are any text; no name can reach another's count. A store that can
 * also hand out limits piece by piece is a `ShareStore` too.
 */
export interface SyncStore extends AsyncDisposable, Partial<ShareStore> {
  /** For people: "redis". */
  readonly name: string;
  /** Leaves counts and reads sums, in one exchange. Rejects with SYNC_UNAVAILABLE or SYNC_CLOSED. */
  sync(report: SyncReport): Promise<SyncReply>;
  /** Ends what the store opened itself. May be called twice. */
  close(): Promise<void>;
}

/** Something that is counted. Keep the object: stores remember by it what they made of the name. */
export interface SyncName {
  /** "endpoint", or another word of lower-case letters: things of different kinds never meet. */
  readonly kind: string;
  readonly id: string;
  /** Absent is the same as "default". */
  readonly model?: string | undefined;
}

/** All that one incarnation has counted of a thing in the present window. */
export interface SyncCount {
  readonly of: SyncName;
  /** Whole numbers of 0 or more. */
  readonly requests: number;
  readonly tokens: number;
}

/** What an instance leaves in a store, and what it wants to know. */
export interface SyncReport {
  readonly namespace: string;
  readonly agentId: string;
  /** Different each time an agent starts, so that a restarted one adds to what it left before. */
  readonly incarnation: string;
  /** Grows with every report of an incarnation: what tells a late one. */
  readonly sequence: number;
  /** The same for all who count the same things. */
  readonly windowMs: number;
  /** In which window this was counted, by the store's clock. Undefined: not known yet, so count nothing and tell the time. */
  readonly window: number | undefined;
  /** What has changed. */
  readonly counts: readonly SyncCount[];
  /** What is only read. */
  readonly watched: readonly SyncName[];
}

/** What a store answers. */
export interface SyncReply {
  /** The store's clock when it answered, in milliseconds since 1970, with fractions. */
  readonly epochMs: number;
  /** Its present window, which the sums are of. */
  readonly window: number;
  /** One for each of `counts` and then of `watched`, in their order. */
  readonly sums: readonly SyncSum[];
}

/** What all instances have counted of a thing in the present window. */
export interface SyncSum {
  readonly requests: number;
  readonly tokens: number;
  /** How many incarnations of agents have left a count. */
  readonly agents: number;
  /** The part of it that the reporting incarnation has left; undefined when there is none. */
  readonly own: { readonly requests: number; readonly tokens: number } | undefined;
  /** Why there is no answer for this one, when the others have theirs. The numbers are 0 then. */
  readonly error: string | undefined;
}
