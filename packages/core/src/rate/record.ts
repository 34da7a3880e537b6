import { STATE } from "./layout.ts";

/**
 * The life of a record, in its STATE: a generation, and in the lower three bits one of these. Every step is a
 * compare-and-swap, so it is made by one thread only, and a step that a dead thread did not make holds up nobody:
 *
 *     FREE ──────────┐
 *                    ├─► WRITING ──► PENDING ──► LIVE ──► DEAD
 *     DEAD, idle ────┘   name and    others of    │         ▲
 *      or same name      limits      this name?   └─ evicted, removed
 *
 * - A record changes hands only when its counters are of a past window, and the counters are never reset by it.
 *   So whoever charged a record and then finds that it is not the id's any more takes exactly that charge back, and
 *   whoever settles late finds another window and leaves it alone. An id that is removed and set again in the same
 *   window goes on counting where it was.
 * - The generation grows at LIVE → DEAD and at DEAD → WRITING: a remembered STATE that still matches is proof.
 */
export const FREE = 0;
export const WRITING = 1;
export const PENDING = 2;
export const LIVE = 3;
export const DEAD = 4;

export const lifeOf = (state: number): number => state & 7;
export const next = (state: number, life: number): number => ((state & ~7) + 8) | life;
export const same = (state: number, life: number): number => (state & ~7) | life;

/**
 * Where a record is and what its STATE was: what is remembered may have become wrong, see `isLive`. When a manager begins
 * to share, its records move, and so do these.
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

/** What a record is set to, as it stands in memory: limits of requests, tokens and those in flight, and flags. */
export type Settings = readonly [requestLimit: number, tokenLimit: number, inFlightLimit: number, flags: number];

/** What the records are for; each kind has its own names. Keys are alone, so that their names need not be put together. */
export const KEY = 0;
export const ENDPOINT = 1;
export const KINDS = [KEY, ENDPOINT] as const;
export type Kind = (typeof KINDS)[number];

/** Finds the records by name. */
export interface Directory {
  find(kind: Kind, name: string): Ref | undefined;
  /** Makes a record or changes the settings of the one that is there. `window` is the present one, to know what is idle. */
  set(kind: Kind, name: string, settings: Settings, window: number): Ref;
  remove(kind: Kind, name: string): boolean;
  each(kind: Kind, visit: (name: string, ref: Ref) => void): void;
}
