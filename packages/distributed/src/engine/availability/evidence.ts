/**
 * The evidence of one answer about availability. "alive": the provider answered, and neither failed nor was overloaded.
 */
export type Sign = "alive" | "overload" | "failure";

/** Number of answers that are remembered and that a message carries. */
export const REMEMBERED = 20;
/** Minimum number of answers from which a share of overloads is computed. */
const ENOUGH = 10;
/** A share of overloads above this closes the endpoint for all agents; below it only the affected calls retry. */
const FREQUENT = 1 / 4;
const FAILURES_IN_A_ROW = 5;
/** Time for which an endpoint ranks behind others after a failure, doubled with each further failure. */
const SUSPECT_MS = 1_000;

/** The latest answers that this agent and its peers received. */
export interface Evidence {
  /** Answers of this agent, and of the peers that report trouble. */
  readonly signs: Sign[];
  /** Number of "alive" signs at the end of `signs`, and at the end of `own`; each counted up to `REMEMBERED`. */
  aliveSigns: number;
  aliveOwn: number;
  /** This agent's own latest answers, and their number since its start, as reported to peers. */
  readonly own: Sign[];
  count: number;
  /** Time at which this agent last met trouble, and time of its last report of trouble. */
  troubledAt: number;
  /** Failures since the latest answer of another kind. */
  failuresInARow: number;
  /** Consecutive answers that were not a success. */
  troubles: number;
  /** Time until which routing prefers other endpoints. */
  suspectUntil: number;
}

export function newEvidence(): Evidence {
  return {
    signs: [],
    aliveSigns: 0,
    aliveOwn: 0,
    own: [],
    count: 0,
    troubledAt: -Infinity,
    failuresInARow: 0,
    troubles: 0,
    suspectUntil: -Infinity,
  };
}

export function addSign(evidence: Evidence, sign: Sign, now: number): void {
  evidence.aliveSigns = remember(evidence.signs, sign, evidence.aliveSigns);
  evidence.failuresInARow = sign === "failure" ? evidence.failuresInARow + 1 : 0;
  if (sign === "alive") {
    evidence.troubles = 0;
    evidence.suspectUntil = -Infinity;
  } else {
    evidence.troubles++;
    evidence.suspectUntil = now + SUSPECT_MS * 2 ** Math.min(evidence.troubles - 1, 4);
  }
}

/** Adds a sign to the latest ones, of which the last `alive` are "alive". Returns the new number of those. */
function remember(signs: Sign[], sign: Sign, alive: number): number {
  // Nothing but successes, as usual: one more changes nothing.
  if (sign === "alive" && alive >= REMEMBERED) return alive;
  signs.push(sign);
  if (signs.length > REMEMBERED) signs.shift();
  return sign === "alive" ? alive + 1 : 0;
}

/** Adds an answer of this agent. */
export function addOwnSign(evidence: Evidence, sign: Sign, now: number): void {
  evidence.aliveOwn = remember(evidence.own, sign, evidence.aliveOwn);
  evidence.count++;
  if (sign !== "alive") evidence.troubledAt = now;
  addSign(evidence, sign, now);
}

/** Forgets the answers received before a change of the state. */
export function resetEvidence(evidence: Evidence): void {
  evidence.signs.length = 0;
  evidence.aliveSigns = 0;
  evidence.failuresInARow = 0;
}

/** True when overloads exceed a quarter of the latest answers. */
export function isOverloaded({ signs }: Evidence): boolean {
  return signs.length >= ENOUGH && countOf(signs, "overload") > signs.length * FREQUENT;
}

/** True after five failures in a row, or when half of the last twenty answers are failures. */
export function isBroken({ signs, failuresInARow }: Evidence): boolean {
  if (failuresInARow >= FAILURES_IN_A_ROW) return true;
  return signs.length >= REMEMBERED && countOf(signs, "failure") >= REMEMBERED / 2;
}

function countOf(signs: readonly Sign[], sign: Sign): number {
  let count = 0;
  for (const one of signs) if (one === sign) count++;
  return count;
}
