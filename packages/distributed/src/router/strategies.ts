import { hash32 } from "../hash.ts";

/** An endpoint that could be sent to, as the strategies see it. */
export interface Open {
  readonly endpoint: string;
  /** 0..1, of the tightest limit, over all instances as far as known. */
  readonly utilization: number;
}

/**
 * Whom a session goes to: each endpoint's number for this session follows from both names, the highest wins. Every
 * instance comes to the same without a table, and when an endpoint has no room or is gone, only its sessions move.
 */
export function bySession(open: readonly Open[], session: string): number {
  const seed = hash32(session);
  let [best, highest] = [0, -1];
  for (let i = 0; i < open.length; i++) {
    const number = hash32((open[i] as Open).endpoint, seed);
    if (number > highest) [best, highest] = [i, number];
  }
  return best;
}

/** Uses that are less than this apart are the same: nobody knows them better. */
const SAME_USE = 1e-9;

/** The one with the most room; of equals each in its turn, or all instances would take the same. */
export function leastUsed(open: readonly Open[], turn: number): number {
  let best = -1;
  for (let step = 0; step < open.length; step++) {
    const i = (turn + step) % open.length;
    if (best < 0 || (open[i] as Open).utilization < (open[best] as Open).utilization - SAME_USE) best = i;
  }
  return best;
}

/** Each in its turn. `all` are the candidates with and without room, so that one without room does not shift the others. */
export function roundRobin(open: readonly Open[], all: readonly string[], turn: number): number {
  for (let step = 0; step < all.length; step++) {
    const next = all[(turn + step) % all.length];
    const i = open.findIndex(({ endpoint }) => endpoint === next);
    if (i >= 0) return i;
  }
  return 0;
}

/** The fraction of the golden ratio: its multiples fall evenly into [0, 1), however many there are. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** Each as often as its weight says, spread evenly over the turns. Without any weight among them, in turns. */
export function weighted(open: readonly Open[], weightOf: (endpoint: string) => number, turn: number): number {
  const weights = open.map(({ endpoint }) => weightOf(endpoint));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total <= 0) return turn % open.length;
  let mark = ((turn * GOLDEN) % 1) * total;
  let last = 0;
  for (const [i, weight] of weights.entries()) {
    if (weight === 0) continue;
    last = i;
    mark -= weight;
    if (mark < 0) break;
  }
  // Rounding may leave a little of the mark: the last that has a weight.
  return last;
}
