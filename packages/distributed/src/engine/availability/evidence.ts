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
/**
 * For this time after an endpoint has opened, only a larger share closes it again. Otherwise an endpoint that refuses every third
 * call would be closed most of the time.
 */
const OPENED_MS = 1_000;
const FREQUENT_AFTER_OPENING = 1 / 2;
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
  /**
   * The number of the latest call under way that counts as accepted, in the order in which this agent has sent its calls.
   */
  acceptedUntil: number;
  /** The longest time in which a call was lately refused or failed. Decays with each quicker refusal. */
  refusalMs: number;
}

/** A call under way, with its number in the order in which this agent has sent its calls. */
export interface SentCall {
  readonly order: number;
  readonly sentAt: number;
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
    acceptedUntil: -1,
    refusalMs: 0,
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

/** A call that has been under way for this many times as long as a failed one counts as accepted. */
const OUTLIVED = 3;

/**
 * Counts the calls under way that were sent before a call that was refused or has failed. Providers refuse in milliseconds
 * what they would answer in minutes. Counted in the order of the answers, random refusals would therefore seem to be all
 * that the endpoint does; in the order of sending they have their true share. A failure may take longer than a refusal, so
 * it shows only that much older calls were accepted.
 */
export function addAccepted(
  evidence: Evidence,
  earlier: readonly SentCall[],
  trouble: Exclude<Sign, "alive">,
  refusalMs: number,
  now: number,
): void {
  const leastAgeMs = trouble === "failure" ? OUTLIVED * refusalMs : 0;
  let { acceptedUntil } = evidence;
  for (const { order, sentAt } of earlier) {
    if (order <= evidence.acceptedUntil || now - sentAt < leastAgeMs) continue;
    acceptedUntil = Math.max(acceptedUntil, order);
    addOwnSign(evidence, "alive", now);
  }
  evidence.acceptedUntil = acceptedUntil;
}

const REFUSAL_DECAY = 0.9;

/** Adds a refusal or failure of this agent's call, which took `refusalMs`. */
export function addOwnTrouble(evidence: Evidence, sign: Exclude<Sign, "alive">, refusalMs: number, now: number): void {
  evidence.refusalMs = Math.max(refusalMs, evidence.refusalMs * REFUSAL_DECAY);
  addOwnSign(evidence, sign, now);
}

/** Forgets the answers received before a change of the state. */
export function resetEvidence(evidence: Evidence): void {
  evidence.signs.length = 0;
  evidence.aliveSigns = 0;
  evidence.failuresInARow = 0;
}

/** True when overloads exceed a quarter of the latest answers, or a half when the endpoint has opened just now. */
export function isOverloaded({ signs }: Evidence, openedAt: number, now: number): boolean {
  const most = now - openedAt < OPENED_MS ? FREQUENT_AFTER_OPENING : FREQUENT;
  return signs.length >= ENOUGH && countOf(signs, "overload") > signs.length * most;
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
