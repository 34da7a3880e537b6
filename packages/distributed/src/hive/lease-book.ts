import type { Clock, Failure, Lease, Refusal, UsedTokens } from "@hivepace/core";
import { checkKnown, checkObject, type OptionNames } from "@hivepace/core/internal";

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
 * The ways in which a lease may end. Each method checks its argument, throws INVALID_CONFIG for an invalid one, and
 * otherwise returns the effects. The effects run after the lease has been removed, so that listeners that end the lease
 * again or throw find it ended.
 */
export interface LeaseEnds {
  done(used: UsedTokens | undefined, isExpired: boolean): () => void;
  cancel(): () => void;
  refused(refusal: Refusal): () => void;
  renewed(): void;
  failed(failure: Failure): () => void;
  /** Records that the answer has begun. The lease stays open. */
  answered(): void;
}

/** All open leases. They expire in the order in which they were granted or renewed, so one timer is enough. */
export class LeaseBook {
  readonly #clock: Clock;
  readonly #leaseMs: number;
  /** Open leases in the order of expiry. */
  readonly #open = new Set<OpenLease>();
  readonly #onEmpty = new Set<() => void>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, leaseMs: number) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
  }

  get size(): number {
    return this.#open.size;
  }

  give(endpoint: string, model: string | undefined, ends: LeaseEnds): Lease {
    const lease = new OpenLease(endpoint, model, ends, this);
    this.keep(lease);
    return lease;
  }

  /** Restarts the lease's time to live. */
  keep(lease: OpenLease): void {
    this.#open.delete(lease);
    lease.expiresAt = this.#clock.now() + this.#leaseMs;
    this.#open.add(lease);
    if (!this.#cancel) this.#arm();
  }

  has(lease: OpenLease): boolean {
    return this.#open.has(lease);
  }

  strike(lease: OpenLease): void {
    this.#open.delete(lease);
    // The timer stays armed and finds no lease when it fires; arming one per lease would be slow.
    if (this.#open.size === 0) for (const tell of this.#onEmpty) tell();
  }

  /** Resolves when no lease is open, or after `ms`. */
  async empty(withinMs: number): Promise<void> {
    if (this.#open.size === 0 || withinMs === 0) return;
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
    this.#open.clear();
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** A lease that ends early leaves the timer unchanged: the timer checks again when it fires. */
  #arm(): void {
    const [first] = this.#open;
    if (!first) return;
    const ms = Math.max(0, first.expiresAt - this.#clock.now());
    this.#cancel = this.#clock.after(ms, () => this.#expire(), { background: true });
  }

  #expire(): void {
    this.#cancel = undefined;
    const now = this.#clock.now();
    for (const lease of this.#open) {
      if (lease.expiresAt > now) break;
      lease.expire();
    }
    if (!this.#cancel) this.#arm();
  }
}

/** The right to send one request. */
class OpenLease implements Lease {
  readonly endpoint: string;
  readonly model: string | undefined;
  expiresAt = Infinity;
  readonly #ends: LeaseEnds;
  readonly #book: LeaseBook;
  #hasAnswer = false;

  constructor(endpoint: string, model: string | undefined, ends: LeaseEnds, book: LeaseBook) {
    this.endpoint = endpoint;
    this.model = model;
    this.#ends = ends;
    this.#book = book;
  }

  done(used?: UsedTokens): void {
    this.#end(() => {
      if (used !== undefined) checkUsed(used);
      return this.#ends.done(used, false);
    });
  }

  expire(): void {
    this.#end(() => this.#ends.done(undefined, true));
  }

  cancel(): void {
    this.#end(() => this.#ends.cancel());
  }

  refused(refusal: Refusal): void {
    this.#end(() => {
      checkKnown(refusal, REFUSAL, "", "refusal");
      return this.#ends.refused(refusal);
    });
  }

  failed(failure: Failure): void {
    this.#end(() => {
      checkKnown(failure, FAILURE, "", "failure");
      return this.#ends.failed(failure);
    });
  }

  answered(): void {
    if (this.#hasAnswer || !this.#book.has(this)) return;
    this.#hasAnswer = true;
    this.#ends.answered();
  }

  renew(): void {
    if (!this.#book.has(this)) return;
    this.#book.keep(this);
    this.#ends.renewed();
  }

  [Symbol.dispose](): void {
    this.done();
  }

  /** Ends the lease once. An invalid argument throws and leaves the lease open. */
  #end(check: () => () => void): void {
    if (!this.#book.has(this)) return;
    const effects = check();
    this.#book.strike(this);
    effects();
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
