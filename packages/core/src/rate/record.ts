import { STATE } from "./layout.ts";

/**
 * The lifecycle of a record, kept in its STATE: a generation, and one of these phases in the lower three bits. Every
 * transition is a compare-and-swap, so exactly one thread makes it, and a transition that a dead thread did not make
 * blocks no other thread:
 *
 *     FREE ──────────┐
 *                    ├─► WRITING ──► PENDING ──► LIVE ──► DEAD
 *     DEAD, idle ────┘   name and    others of    │         ▲
 *      or same name      limits      this name?   └─ evicted, removed
 *
 * - A record is given to another id only when its counters belong to a past window, and this never resets the counters.
 *   A thread that charged a record and then finds that it belongs to another id refunds exactly its charge, and a late
 *   settlement finds another window and changes nothing. An id that is removed and set again in the same window keeps
 *   its counts.
 * - The generation grows at LIVE → DEAD and at DEAD → WRITING: a cached STATE that still matches proves that the record
 *   still belongs to the same name.
 */
export const FREE = 0;
export const WRITING = 1;
export const PENDING = 2;
export const LIVE = 3;
export const DEAD = 4;

export const phaseOf = (state: number): number => state & 7;
export const next = (state: number, phase: number): number => ((state & ~7) + 8) | phase;
export const same = (state: number, phase: number): number => (state & ~7) | phase;

/**
 * The place of a record and its STATE at the last look-up, which `isLive` validates. When a manager begins to share,
 * its records move, and their references are updated.
 */
export class Ref {
  slot: number;
  state: number;

  constructor(slot: number, state: number) {
    this.slot = slot;
    this.state = state;
  }
}

export function isLive(memory: Int32Array, ref: Ref): boolean {
  return memory[ref.slot + STATE] === ref.state;
}

/** The settings of a record as stored: the limits of requests, of tokens and of requests in flight, and flags. */
export type Settings = readonly [requestLimit: number, tokenLimit: number, inFlightLimit: number, flags: number];

/**
 * The kinds of records; each kind has its own names. Keys are a kind of their own, so that their names need not be
 * composed.
 */
export const KEY = 0;
export const ENDPOINT = 1;
export const KINDS = [KEY, ENDPOINT] as const;
export type Kind = (typeof KINDS)[number];

/** Looks up records by name. */
export interface Directory {
  find(kind: Kind, name: string): Ref | undefined;
  /**
   * Creates a record or changes the settings of the existing one. `window` is the present window, which determines the
   * idle records.
   */
  set(kind: Kind, name: string, settings: Settings, window: number): Ref;
  remove(kind: Kind, name: string): boolean;
  each(kind: Kind, visit: (name: string, ref: Ref) => void): void;
}
