import { hash32 } from "../hash.ts";

/** An endpoint with capacity, as input of the strategies. */
export interface Open {
  readonly endpoint: string;
  /** Utilization of the tightest limit, 0 to 1, over all instances as far as known. */
  readonly utilization: number;
  /** Rank, compared before utilization, lowest first. */
  readonly rank?: number | undefined;
  /** Utilization including usage that failed calls gave back; compared by `leastUsed`. */
  readonly load?: number | undefined;
  /** Expected latency of one more call. */
  readonly latencyMs?: number | undefined;
}

/** Returns the endpoints of the best rank. */
export function bestRanked(open: readonly Open[]): readonly Open[] {
  let best = Infinity;
  let isEqual = true;
  for (const { rank = 0 } of open) {
    if (best < Infinity && rank !== best) isEqual = false;
    best = Math.min(best, rank);
  }
  return isEqual ? open : open.filter(({ rank = 0 }) => rank === best);
}

/** The index of the endpoint with the shortest expected latency. Equal endpoints take turns. */
export function fastest(open: readonly Open[], turn: number): number {
  return lowest(open, turn, ({ latencyMs = 0 }) => latencyMs);
}

/**
 * The index of a session's endpoint, by rendezvous hashing: the endpoint whose hash with the session is highest. Every
 * instance computes the same endpoint without a table, and when an endpoint is full or removed, only its sessions move.
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

/** Smaller differences of utilization count as equal, because they are below the precision of the counts. */
const SAME_USE = 1e-9;

/**
 * The index of the endpoint with the lowest utilization. Equal endpoints take turns, or all instances would choose the
 * same one.
 */
export function leastUsed(open: readonly Open[], turn: number): number {
  return lowest(open, turn, ({ utilization, load = utilization }) => load);
}

function lowest(open: readonly Open[], turn: number, of: (one: Open) => number): number {
  let best = -1;
  for (let step = 0; step < open.length; step++) {
    const i = (turn + step) % open.length;
    if (best < 0 || of(open[i] as Open) < of(open[best] as Open) - SAME_USE) best = i;
  }
  return best;
}

/**
 * The index of the next endpoint in turn. `all` contains the candidates with and without capacity, so that a full one
 * does not shift the others.
 */
export function roundRobin(open: readonly Open[], all: readonly string[], turn: number): number {
  for (let step = 0; step < all.length; step++) {
    const next = all[(turn + step) % all.length];
    const i = open.findIndex(({ endpoint }) => endpoint === next);
    if (i >= 0) return i;
  }
  return 0;
}

/** The fractional part of the golden ratio. Its multiples are spread evenly over [0, 1) for any number of turns. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** The index of an endpoint by weight, spread evenly over the turns. If all weights are 0, endpoints take turns. */
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
  // A rounding error may leave a remainder; the last endpoint with a weight takes it.
  return last;
}
