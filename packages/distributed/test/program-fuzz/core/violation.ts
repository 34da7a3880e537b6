/** The laws that programs are checked against. A shrunk program breaks the same law as the program it was made from. */
export type Law =
  /** No call of the public API throws anything but a typed error. */
  | "typed errors"
  /** No number is NaN, and no amount is negative. */
  | "numbers"
  /** An illegal call is rejected with a typed error and changes nothing. */
  | "illegal calls"
  /** Nothing is granted above a limit. */
  | "limit"
  /** Granted = settled + refunded + in flight, and usage is what the model counts. */
  | "conservation"
  /** Every promise settles, and calls that fit are served. */
  | "liveness"
  /** Every lease ends once. */
  | "leases"
  /** No timer, listener or waiter is left. */
  | "leftovers"
  /** Every message decodes at every agent. */
  | "messages"
  /** State does not grow with the number of calls. */
  | "memory"
  /** Every denial and rejection has a reason that is true. */
  | "reasons"
  /** `retryAfterMs` is when a retry is granted. */
  | "retry"
  /** Explanations and decisions agree. */
  | "explanations"
  /** Nobody is overtaken by a later call of the same kind. */
  | "order"
  /** No call is granted during a pause. */
  | "pause"
  /** Agents that hear each other agree on levels and members. */
  | "agreement"
  /** Warnings are true. */
  | "warnings";

/** A law that a program broke. */
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
