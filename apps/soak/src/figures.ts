/** How well the limit was held and used, over all rounds. */
export interface SoakFigures {
  /** The most that was sent in any window, whether it was accepted or not, in limits. */
  readonly max: number;
  /** Accepted while nothing happened, and while the broker was away, in limits per window. */
  readonly use: number;
  readonly useWhileAway: number;
  readonly sent: number;
  /** By the provider, for its limit; those that were ordered are not among them. */
  readonly refused: number;
  /** From the first refusal until the last agent had cut, at worst. */
  readonly cutMs: number;
  /** Of one agent, after one refusal, at most. */
  readonly cuts: number;
  /** From the broker's return until every agent knew all others, at worst. */
  readonly healMs: number;
}

/** What was seen of each, as it comes. */
export class Seen {
  readonly use: number[] = [];
  readonly useWhileAway: number[] = [];
  readonly cutMs: number[] = [];
  readonly cuts: number[] = [];
  readonly healMs: number[] = [];
  ordered = 0;

  figures({ max, sent, rejected }: { max: number; sent: number; rejected: number }): SoakFigures {
    const { cutMs, cuts, healMs } = this;
    return {
      max,
      sent,
      use: mean(this.use),
      useWhileAway: mean(this.useWhileAway),
      refused: Math.max(0, rejected - this.ordered),
      cutMs: Math.max(...cutMs),
      cuts: Math.max(...cuts),
      healMs: Math.max(...healMs),
    };
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export const FIGURES_HEAD = `| broker | max | use | while away | 429s | cut, last agent | cuts | healed after |
|---|---|---|---|---|---|---|---|`;

/** One line of the table. What never happened has no figure. */
export function figuresLine(broker: string, figures: SoakFigures): string {
  const { max, use, useWhileAway, refused, sent, cutMs, cuts, healMs } = figures;
  const known = (value: number, text: string): string => (Number.isFinite(value) ? text : "–");
  const cells = [
    broker,
    max.toFixed(3),
    known(use, `${(100 * use).toFixed(1)} %`),
    known(useWhileAway, `${(100 * useWhileAway).toFixed(1)} %`),
    `${refused} of ${sent}`,
    known(cutMs, `${cutMs.toFixed(0)} ms`),
    known(cuts, `${cuts}`),
    known(healMs, `${(healMs / 1_000).toFixed(1)} s`),
  ];
  return `| ${cells.join(" | ")} |`;
}
