/** The retention is divided into this many buckets, so that memory does not depend on the number of refunds. */
const BUCKETS = 16;

interface Bucket {
  /** The bucket holds refunds made from here on, for one `BUCKETS`-th of the retention. */
  readonly from: number;
  /** When the oldest of the refunded calls was sent. */
  sentAt: number;
}

/**
 * The age of the oldest call that was refunded recently. Holds at most `BUCKETS + 1` entries however many refunds are made
 * and however rarely the age is asked for: a refund is forgotten up to one bucket later than `keepMs`, never earlier.
 */
export class RefundAges {
  /** Ascending by `from`. */
  readonly #buckets: Bucket[] = [];

  add(now: number, sentAt: number, keepMs: number): void {
    this.#expire(now, keepMs);
    const last = this.#buckets.at(-1);
    if (last && now - last.from < keepMs / BUCKETS) last.sentAt = Math.min(last.sentAt, sentAt);
    else this.#buckets.push({ from: now, sentAt });
  }

  /** In milliseconds; 0 when nothing was refunded within `keepMs`. */
  oldestMs(now: number, keepMs: number): number {
    this.#expire(now, keepMs);
    let oldest = now;
    for (const { sentAt } of this.#buckets) oldest = Math.min(oldest, sentAt);
    return now - oldest;
  }

  #expire(now: number, keepMs: number): void {
    const endOf = ({ from }: Bucket): number => from + keepMs + keepMs / BUCKETS;
    while (this.#buckets[0] && endOf(this.#buckets[0]) <= now) this.#buckets.shift();
  }
}
