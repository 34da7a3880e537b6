/** How much of the configured limits a provider allows over time, as a part: 1, or less while it has fallen. */
export class Allowance {
  readonly #steps: { readonly at: number; readonly part: number }[] = [{ at: 0, part: 1 }];

  /** From `at` on, which is not before the last step. */
  set(at: number, part: number): void {
    this.#steps.push({ at, part });
  }

  get part(): number {
    return this.#steps.at(-1)?.part ?? 1;
  }

  /** The mean between two times; 1 when nothing at all was allowed, so that ratios stay finite. */
  between(from: number, to: number): number {
    let sum = 0;
    for (const [i, { at, part }] of this.#steps.entries()) {
      const end = Math.min(to, this.#steps[i + 1]?.at ?? to);
      sum += part * Math.max(0, end - Math.max(from, at));
    }
    return sum > 0 ? sum / (to - from) : 1;
  }
}
