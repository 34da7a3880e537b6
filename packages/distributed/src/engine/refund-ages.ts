/** Number of entries above which neighbours are merged, so that memory does not grow with the number of refunds. */
const MOST = 256;

interface Refund {
  /** Time of the refund, and of the call. */
  readonly at: number;
  readonly sentAt: number;
}

/**
 * The age of the oldest call that was settled recently. Holds at most `MOST` entries. The age is exact for up to `MOST`
 * settled calls in `keepMs`; with more, a call may be remembered for longer. The age is then too large, and peers place
 * refunds too early in their windows, which is the safe side.
 */
export class RefundAges {
  /** Ascending by `at` and by `sentAt`: a call that settled later and was sent earlier than another replaces it. */
  #refunds: Refund[] = [];

  add(now: number, sentAt: number, keepMs: number): void {
    const refunds = this.#refunds;
    for (let last = refunds.at(-1); last && last.sentAt >= sentAt; last = refunds.at(-1)) refunds.pop();
    refunds.push({ at: now, sentAt });
    if (refunds.length <= MOST) return;
    this.#expire(now, keepMs);
    if (this.#refunds.length > MOST) this.#merge();
  }

  /** Age in milliseconds; 0 when no call was settled within `keepMs`. */
  oldestMs(now: number, keepMs: number): number {
    this.#expire(now, keepMs);
    const [oldest] = this.#refunds;
    return oldest ? Math.max(0, now - oldest.sentAt) : 0;
  }

  #expire(now: number, keepMs: number): void {
    const first = this.#refunds.findIndex(({ at }) => now - at < keepMs);
    this.#refunds = first < 0 ? [] : this.#refunds.slice(first);
  }

  /** Merges pairs into entries with the later settlement and the earlier call. */
  #merge(): void {
    const merged: Refund[] = [];
    for (let i = 0; i < this.#refunds.length; i += 2) {
      const [one, two] = [this.#refunds[i], this.#refunds[i + 1]];
      if (one) merged.push(two ? { at: two.at, sentAt: one.sentAt } : one);
    }
    this.#refunds = merged;
  }
}
