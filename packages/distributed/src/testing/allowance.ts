/** The fraction of the configured limits that a provider allows over time: 1, or less during a fault. */
export class Allowance {
  readonly #steps: { readonly at: number; readonly part: number }[] = [{ at: 0, part: 1 }];

  /** Sets the fraction from time `at` on, which must not be earlier than the last step. */
  set(at: number, part: number): void {
    this.#steps.push({ at, part });
  }

  get part(): number {
    return this.#steps.at(-1)?.part ?? 1;
  }

  /** The mean fraction between two times; 1 when nothing was allowed at all, so that ratios stay finite. */
  between(from: number, to: number): number {
    let sum = 0;
    for (const [i, { at, part }] of this.#steps.entries()) {
      const end = Math.min(to, this.#steps[i + 1]?.at ?? to);
      sum += part * Math.max(0, end - Math.max(from, at));
    }
    return sum > 0 ? sum / (to - from) : 1;
  }
}
