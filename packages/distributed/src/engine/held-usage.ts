import { type Amounts, addTo, takeFrom, zeros } from "./amounts.ts";
import { BINS, UsageWindow } from "./usage-window.ts";

/** Usage that lasts until its call ends: a sum without a window. Reports contain it as usage of the youngest bin. */
export class HeldUsage extends UsageWindow {
  override get longestMs(): number {
    return Infinity;
  }

  override add(_time: number, amounts: Amounts): void {
    addTo(this.sum, amounts);
  }

  override refund(_time: number, amounts: Amounts): void {
    takeFrom(this.sum, amounts);
  }

  override expire(): boolean {
    return false;
  }

  override between(): number[] {
    return zeros(this.sum.length);
  }

  override clear(): void {
    this.sum.fill(0);
  }

  override inherit(other: UsageWindow, indices: readonly number[]): void {
    indices.forEach((index, i) => {
      this.sum[i] = index < 0 ? 0 : (other.sum[index] as number);
    });
  }

  override trim(amounts: Amounts): void {
    takeFrom(this.sum, amounts);
  }

  override since(): number[] {
    return this.sum.slice();
  }

  /** Held usage does not expire with time. */
  override goneAt(amounts: Amounts): number {
    return amounts.some((amount) => amount > 0) ? Infinity : -Infinity;
  }

  override goneBy(): number[] {
    return zeros(this.sum.length);
  }

  override bins(): number[][] {
    return Array.from({ length: BINS }, (_, b) => (b === 0 ? this.sum.slice() : zeros(this.sum.length)));
  }
}
