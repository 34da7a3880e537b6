import { Heap, type HeapEntry } from "../heap.ts";
import type { ShareLevel } from "../share-store.ts";

/** What a store knows of one agent in one pool. */
export interface ShareRow {
  readonly id: string;
  readonly life: number;
  sequence: number;
  at: number;
  nextMs: number;
  weight: number;
  sent: readonly number[];
  back: readonly number[];
  allowed: number[];
  /** How much of that it may know of. */
  told: readonly number[];
  /** What it used in its last window, as it said, and what it may go on using by itself. */
  used: readonly number[];
  fair: readonly number[];
  next: readonly number[];
  all: readonly number[];
  /** How much it was served, in limits and by weight. */
  turn: number;
  place: HeapEntry<SharePlace> | undefined;
  state: "live" | "silent" | "left";
  /** When it is silent, and then when it is forgotten. */
  due: HeapEntry<ShareDue>;
}

interface SharePlace {
  readonly turn: number;
  readonly order: number;
  readonly row: ShareRow;
}

interface ShareDue {
  readonly at: number;
  readonly order: number;
  readonly row: ShareRow;
}

/** With times of the store's clock in the place of ages. */
export type StoredLevel = Omit<ShareLevel, "cutAgoMs" | "pausedAgoMs"> & {
  readonly cutAt: number;
  readonly pausedAt: number;
};

/** All that a store knows of one pool. */
export interface ShareState {
  readonly windowMs: number;
  readonly rows: Map<string, ShareRow>;
  readonly line: Heap<SharePlace>;
  readonly dues: Heap<ShareDue>;
  /** Counts calls: whoever was told a higher number knows that this memory is not the latest. */
  stamp: number;
  at: number;
  /** Somebody has promised to report by then. */
  expectBy: number;
  learnUntil: number;
  limits: number[];
  limitsAt: number;
  level: StoredLevel | undefined;
  /** Handed out and not reported. */
  readonly held: number[];
  members: number;
  weights: number;
  /** How far the line has come: where whoever was served last stands now; and since when there is one. */
  turn: number;
  lineSince: number | undefined;
  orders: number;
  /** How far all are ahead of a steady pace. */
  readonly ahead: number[];
  aheadAt: number;
  isStore: boolean;
}

export function newShareState(windowMs: number, limits: readonly number[]): ShareState {
  return {
    windowMs,
    rows: new Map(),
    line: new Heap((a, b) => a.turn < b.turn || (a.turn === b.turn && a.order < b.order)),
    dues: new Heap((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order)),
    stamp: 0,
    at: -Infinity,
    expectBy: -Infinity,
    learnUntil: -Infinity,
    limits: [...limits],
    limitsAt: -Infinity,
    level: undefined,
    held: limits.map(() => 0),
    members: 0,
    weights: 0,
    turn: 0,
    lineSince: undefined,
    orders: 0,
    ahead: limits.map(() => 0),
    aheadAt: -Infinity,
    isStore: false,
  };
}

/** What it was handed and has not said that it used. */
export function holdOf({ allowed, sent }: ShareRow): number[] {
  return allowed.map((amount, i) => Math.max(0, amount - at(sent, i)));
}

export const SLACK = 1e-6;

export function fits(amounts: readonly number[], room: readonly number[]): boolean {
  return amounts.every((amount, i) => amount <= at(room, i) + SLACK);
}

export function addTo(sum: number[], amounts: readonly number[], factor = 1): void {
  for (let i = 0; i < sum.length; i++) sum[i] = at(sum, i) + factor * at(amounts, i);
}

export function at(amounts: readonly number[], index: number): number {
  return amounts[index] ?? 0;
}
