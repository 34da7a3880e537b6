import { at } from "./amounts.ts";

/** Number of entries above which neighbours are merged, so that memory does not grow with the number of refunds. */
const MOST = 256;

/**
 * The age of the oldest call that was settled recently. Holds at most `MOST` entries. The age is exact for up to `MOST`
 * settled calls in `keepMs`; with more, a call may be remembered for longer. The age is then too large, and peers place
 * refunds too early in their windows, which is the safe side.
 */
export class RefundAges {
  /**
   * Times of the refunds, and of their calls. Both ascend: a call that settled later and was sent earlier than another
   * replaces it. Two lists of numbers, because most calls add an entry.
   */
  readonly #settledAt: number[] = [];
  readonly #sentAt: number[] = [];

  add(now: number, sentAt: number, keepMs: number): void {
    const settled = this.#settledAt;
    const sent = this.#sentAt;
    while (sent.length > 0 && at(sent, sent.length - 1) >= sentAt) {
      sent.pop();
      settled.pop();
    }
    settled.push(now);
    sent.push(sentAt);
    if (sent.length <= MOST) return;
    this.#expire(now, keepMs);
    if (sent.length > MOST) this.#merge();
  }

  /** Age in milliseconds; 0 when no call was settled within `keepMs`. */
  oldestMs(now: number, keepMs: number): number {
    this.#expire(now, keepMs);
    return this.#sentAt.length === 0 ? 0 : Math.max(0, now - at(this.#sentAt, 0));
  }

  #expire(now: number, keepMs: number): void {
    let expired = 0;
    while (expired < this.#settledAt.length && now - at(this.#settledAt, expired) >= keepMs) expired++;
    if (expired === 0) return;
    this.#settledAt.splice(0, expired);
    this.#sentAt.splice(0, expired);
  }

  /** Merges pairs into entries with the later settlement and the earlier call. */
  #merge(): void {
    const settled = this.#settledAt;
    const sent = this.#sentAt;
    const { length } = sent;
    let merged = 0;
    for (let i = 0; i < length; i += 2) {
      settled[merged] = at(settled, Math.min(i + 1, length - 1));
      sent[merged++] = at(sent, i);
    }
    settled.length = merged;
    sent.length = merged;
  }
}
