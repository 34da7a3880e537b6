import { type Amounts, addTo } from "./amounts.ts";

/** Number of refunds in one report. Further ones are merged with their neighbours. */
export const MOST_REFUNDS = 8;

/**
 * The unused part of the estimates of calls that were sent together. In messages `ageMs` is the time since they were
 * sent.
 */
export interface Refund {
  readonly ageMs: number;
  readonly amounts: Amounts;
}

/**
 * The refunds that no report contains, by the time of their calls. Merged refunds count from the earliest of their
 * calls: the capacity they free may end too early, never too late.
 */
export class UnreportedRefunds {
  /** Ascending by `sentAt`. */
  #refunds: { readonly sentAt: number; readonly amounts: number[] }[] = [];

  add(sentAt: number, amounts: Amounts): void {
    const refunds = this.#refunds;
    let i = refunds.length;
    while (i > 0 && (refunds[i - 1]?.sentAt ?? 0) > sentAt) i--;
    refunds.splice(i, 0, { sentAt, amounts: [...amounts] });
    if (refunds.length > MOST_REFUNDS) this.#merge();
  }

  /** Returns the refunds for a report, oldest calls first, and forgets them. */
  take(now: number): Refund[] {
    const refunds = this.#refunds.map(({ sentAt, amounts }) => ({ ageMs: Math.max(0, now - sentAt), amounts }));
    this.#refunds = [];
    return refunds;
  }

  /** Merges the two neighbours that are closest in time. */
  #merge(): void {
    const refunds = this.#refunds;
    const gapAt = (i: number) => (refunds[i]?.sentAt ?? 0) - (refunds[i - 1]?.sentAt ?? 0);
    let closest = 1;
    for (let i = 2; i < refunds.length; i++) if (gapAt(i) < gapAt(closest)) closest = i;
    const [later] = refunds.splice(closest, 1);
    const earlier = refunds[closest - 1];
    if (earlier && later) addTo(earlier.amounts, later.amounts);
  }
}
