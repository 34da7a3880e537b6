import type { Clock, Failure, Lease, Refusal, UsedTokens } from "@hivepace/core";
import { checkKnown, checkObject, type OptionNames } from "@hivepace/core/internal";
import type { SentCall } from "../engine/index.ts";
import type { Charge } from "./admission.ts";
import type { Use } from "./amounts-of.ts";

const USED = { tokens: true, inputTokens: true, outputTokens: true } as const satisfies OptionNames<UsedTokens>;
const REFUSAL = {
  reason: true,
  retryAfterMs: true,
  kind: true,
  concerns: true,
} as const satisfies OptionNames<Refusal>;
const FAILURE = {
  reason: true,
  concerns: true,
  wasSent: true,
  byCaller: true,
  used: true,
} as const satisfies OptionNames<Failure>;

/**
 * The effects of the ways in which a lease may end. They run after the lease has been removed, so that listeners that end
 * the lease again or throw find it ended.
 */
export interface LeaseEnds {
  /** Checks the reported usage of a call, and returns the usage to charge. Throws INVALID_CONFIG. */
  usageOf(charge: Charge, used: UsedTokens | undefined): Use;
  done(charge: Charge, used: Use, how: "done" | "expired"): void;
  cancelled(charge: Charge): void;
  /** Throws INVALID_CONFIG for an invalid refusal. */
  checkRefusal(refusal: Refusal): void;
  refused(charge: Charge, refusal: Refusal): void;
  /** Throws INVALID_CONFIG for an invalid failure. */
  checkFailure(failure: Failure): void;
  failed(charge: Charge, failure: Failure, used: Use): void;
  /** Reports that the answer has begun. The lease stays open. */
  answered(charge: Charge): void;
  renewed(charge: Charge): void;
}

/** The state of a lease, and its neighbours in the order of expiry. Only the book changes it. */
export interface LeaseState {
  isOpen: boolean;
  expiresAt: number;
  before: Charge | undefined;
  after: Charge | undefined;
}

/** All open leases. They expire in the order in which they were granted or renewed, so one timer is enough. */
export class LeaseBook {
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #ends: LeaseEnds;
  /** The first and the last of the open leases, which are linked in the order of expiry. */
  #first: Charge | undefined;
  #last: Charge | undefined;
  #size = 0;
  #given = 0;
  readonly #onEmpty = new Set<() => void>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, leaseMs: number, ends: LeaseEnds) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#ends = ends;
  }

  get size(): number {
    return this.#size;
  }

  /** Opens the lease of a charged call. */
  give(charge: Charge): Lease {
    charge.order = ++this.#given;
    this.#append(charge, charge.sentAt);
    return new OpenLease(charge, this.#ends, this);
  }

  /** The latest calls to an endpoint, or to one of its models, that were sent before `charge` and have no answer yet. */
  earlier({ order, target }: Charge, model: string | undefined, most: number): SentCall[] {
    const found: SentCall[] = [];
    for (let one = this.#last; one && found.length < most; one = one.before) {
      if (one.order >= order || one.hasAnswer || one.target.id !== target.id) continue;
      if (model === undefined || one.model === model) found.push({ order: one.order, sentAt: one.sentAt });
    }
    return found;
  }

  /** Restarts the time to live of an open lease. */
  keep(charge: Charge): void {
    this.#remove(charge);
    this.#append(charge, this.#clock.now());
  }

  /** Ends a lease. Returns false when it has ended before. */
  strike(charge: Charge): boolean {
    if (!charge.isOpen) return false;
    this.#remove(charge);
    // The timer stays armed and finds no lease when it fires; arming one per lease would be slow.
    if (this.#size === 0) for (const tell of this.#onEmpty) tell();
    return true;
  }

  /** Resolves when no lease is open, or after `ms`. */
  async empty(withinMs: number): Promise<void> {
    if (this.#size === 0 || withinMs === 0) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        cancel();
        this.#onEmpty.delete(end);
        resolve();
      };
      const cancel = this.#clock.after(withinMs, end);
      this.#onEmpty.add(end);
    });
  }

  /** Forgets open leases without running their effects. */
  close(): void {
    while (this.#first) this.#remove(this.#first);
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #append(charge: Charge, now: number): void {
    charge.isOpen = true;
    charge.expiresAt = now + this.#leaseMs;
    charge.before = this.#last;
    if (this.#last) this.#last.after = charge;
    else this.#first = charge;
    this.#last = charge;
    this.#size++;
    if (!this.#cancel) this.#arm(now);
  }

  #remove(charge: Charge): void {
    const { before, after } = charge;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    charge.isOpen = false;
    charge.before = undefined;
    charge.after = undefined;
    this.#size--;
  }

  /** A lease that ends early leaves the timer unchanged: the timer checks again when it fires. */
  #arm(now: number): void {
    if (!this.#first) return;
    const ms = Math.max(0, this.#first.expiresAt - now);
    this.#cancel = this.#clock.after(ms, () => this.#expire(), { background: true });
  }

  #expire(): void {
    this.#cancel = undefined;
    const now = this.#clock.now();
    for (let charge = this.#first; charge && charge.expiresAt <= now; charge = this.#first)
      if (this.strike(charge)) this.#ends.done(charge, charge.use, "expired");
    if (!this.#cancel) this.#arm(this.#clock.now());
  }
}

/** The right to send one request. An invalid argument throws and leaves the lease open. */
class OpenLease implements Lease {
  readonly endpoint: string;
  readonly model: string | undefined;
  readonly #charge: Charge;
  readonly #ends: LeaseEnds;
  readonly #book: LeaseBook;

  constructor(charge: Charge, ends: LeaseEnds, book: LeaseBook) {
    this.endpoint = charge.target.id;
    this.model = charge.model;
    this.#charge = charge;
    this.#ends = ends;
    this.#book = book;
  }

  done(used?: UsedTokens): void {
    if (!this.#charge.isOpen) return;
    if (used !== undefined) checkUsed(used);
    const really = this.#ends.usageOf(this.#charge, used);
    if (this.#book.strike(this.#charge)) this.#ends.done(this.#charge, really, "done");
  }

  cancel(): void {
    if (this.#book.strike(this.#charge)) this.#ends.cancelled(this.#charge);
  }

  refused(refusal: Refusal): void {
    if (!this.#charge.isOpen) return;
    checkKnown(refusal, REFUSAL, "", "refusal");
    this.#ends.checkRefusal(refusal);
    if (this.#book.strike(this.#charge)) this.#ends.refused(this.#charge, refusal);
  }

  failed(failure: Failure): void {
    if (!this.#charge.isOpen) return;
    checkKnown(failure, FAILURE, "", "failure");
    this.#ends.checkFailure(failure);
    const used = this.#ends.usageOf(this.#charge, failure.used);
    if (this.#book.strike(this.#charge)) this.#ends.failed(this.#charge, failure, used);
  }

  answered(): void {
    if (this.#charge.isOpen) this.#ends.answered(this.#charge);
  }

  renew(): void {
    if (!this.#charge.isOpen) return;
    this.#book.keep(this.#charge);
    this.#ends.renewed(this.#charge);
  }

  [Symbol.dispose](): void {
    this.done();
  }
}

/**
 * Rejects usage in which no known name occurs, such as that of a provider's answer. Further names beside a known one
 * are harmless: SDKs report details that are part of the sums.
 */
function checkUsed(used: UsedTokens): void {
  checkObject("used", used);
  const { tokens, inputTokens, outputTokens } = used;
  if (tokens === undefined && inputTokens === undefined && outputTokens === undefined) checkKnown(used, USED, "used.");
}
