/** More refunds than this are kept together, two and two, so that memory does not depend on their number. */
const MOST = 256;

interface Refund {
  /** When it was made, and when the call had been sent. */
  readonly at: number;
  readonly sentAt: number;
}

/**
 * The age of the oldest call that was settled recently. Holds at most `MOST` entries, however many calls settle and however
 * rarely the age is asked for. Exact for up to `MOST` settled calls in `keepMs`; with more, a call may be remembered for
 * longer than that, which makes the age larger and so counts refunds from too early on, never from too late.
 */
export class RefundAges {
  /** Ascending by `at` and by `sentAt`: of two calls the later settled and earlier sent one stands for both. */
  #refunds: Refund[] = [];

  add(now: number, sentAt: number, keepMs: number): void {
    const refunds = this.#refunds;
    for (let last = refunds.at(-1); last && last.sentAt >= sentAt; last = refunds.at(-1)) refunds.pop();
    refunds.push({ at: now, sentAt });
    if (refunds.length <= MOST) return;
    this.#expire(now, keepMs);
    if (this.#refunds.length > MOST) this.#merge();
  }

  /** In milliseconds; 0 when no call was settled within `keepMs`. */
  oldestMs(now: number, keepMs: number): number {
    this.#expire(now, keepMs);
    const [oldest] = this.#refunds;
    return oldest ? Math.max(0, now - oldest.sentAt) : 0;
  }

  #expire(now: number, keepMs: number): void {
    const first = this.#refunds.findIndex(({ at }) => now - at < keepMs);
    this.#refunds = first < 0 ? [] : this.#refunds.slice(first);
  }

  /** Each pair becomes one that was settled when the later was, and sent when the earlier was. */
  #merge(): void {
    const merged: Refund[] = [];
    for (let i = 0; i < this.#refunds.length; i += 2) {
      const [one, two] = [this.#refunds[i], this.#refunds[i + 1]];
      if (one) merged.push(two ? { at: two.at, sentAt: one.sentAt } : one);
    }
    this.#refunds = merged;
  }
}
