/** Compliance with the limit and its utilization, over all rounds. */
export interface SoakFigures {
  /** Maximum sent in any window, accepted or not, as a fraction of the limit. */
  readonly max: number;
  /** Accepted requests without faults, and during an outage of the broker, as fractions of the limit. */
  readonly use: number;
  readonly useWhileAway: number;
  readonly sent: number;
  /** Refusals by the provider's limit, without the injected ones. */
  readonly refused: number;
  /** Maximum time from the first refusal until the last agent had cut. */
  readonly cutMs: number;
  /** Maximum number of cuts of one agent after one refusal. */
  readonly cuts: number;
  /** Maximum time from the broker's return until every agent knew all others. */
  readonly healMs: number;
}

/** Collects the observations of all rounds. */
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

/** One line of the table, with a dash for a fault that never happened. */
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
