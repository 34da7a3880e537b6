/** The laws against which programs are checked. A shrunk program breaks the same law as its original. */
export type Law =
  /** Calls of the public API throw only typed errors. */
  | "typed errors"
  /** No number is NaN, and no amount is negative. */
  | "numbers"
  /** An invalid call fails with a typed error and changes nothing. */
  | "illegal calls"
  /** Nothing is granted above a limit. */
  | "limit"
  /** Granted = settled + refunded + in flight, and usage equals the model's count. */
  | "conservation"
  /** Every promise settles, and calls that fit are granted. */
  | "liveness"
  /** Every lease ends exactly once. */
  | "leases"
  /** No timer, listener or waiter is left. */
  | "leftovers"
  /** Every message decodes at every agent. */
  | "messages"
  /** State does not grow with the number of calls. */
  | "memory"
  /** Every denial and rejection has a correct reason. */
  | "reasons"
  /** `retryAfterMs` is the time after which a retry is granted. */
  | "retry"
  /** Explanations and decisions agree. */
  | "explanations"
  /** No call is overtaken by a later call of the same kind. */
  | "order"
  /** No call is granted during a pause. */
  | "pause"
  /** Agents that receive each other's messages agree on levels and members. */
  | "agreement"
  /** Warnings are correct. */
  | "warnings";

/** The violation of a law by a program. */
export class Violation extends Error {
  readonly law: Law;

  constructor(law: Law, message: string) {
    super(message);
    this.law = law;
  }
}

/** Throws a violation of `law` unless the condition holds. */
export function need(isRight: boolean, law: Law, message: () => string): void {
  if (!isRight) throw new Violation(law, message());
}
