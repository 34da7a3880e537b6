import type { Figures } from "./figures.ts";

/** How a run ended, besides its figures. */
export interface Ending {
  /** All agents were at their whole limit, and knew each other. */
  readonly isRecovered: boolean;
  readonly isWhole: boolean;
}

export interface Verdict {
  readonly isRight: boolean;
  /** One sentence for each thing that is judged. */
  readonly sentences: readonly string[];
}

/**
 * So far above the limit may a window be. Agents are told less than the provider allows, so that nothing is; but on a
 * machine that stands still for a second, what was decided one after the other arrives together.
 */
export const MOST_RATIO = 1.1;

/** Did the limit hold, and is the swarm as it was? */
export function judge(figures: Figures, { isRecovered, isWhole }: Ending): Verdict {
  const { maxWindowRatio, reductions, recoveries } = figures;
  const isWithin = maxWindowRatio <= MOST_RATIO;
  const percent = `${(100 * maxWindowRatio).toFixed(1)} % of it`;
  const sentences = [
    isWithin
      ? `The limit held: the most that was sent in any minute was ${percent}.`
      : `The limit was exceeded: in one minute ${percent} was sent.`,
    recovery(reductions, recoveries, isRecovered),
    ...(isWhole ? [] : ["The swarm did not find together again: not every agent knows all others."]),
  ];
  return { isRight: isWithin && isRecovered && isWhole, sentences };
}

function recovery(reductions: number, recoveries: number, isRecovered: boolean): string {
  if (!isRecovered) return "The swarm did not recover: some agents are still below their limit.";
  if (reductions === 0) return "No agent had to cut back.";
  return `The swarm cut back ${times(reductions)} and recovered ${times(recoveries)}.`;
}

function times(count: number): string {
  return count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
}
