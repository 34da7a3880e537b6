import type { Figures } from "./figures.ts";

/** How a run ended, besides its figures. */
export interface Ending {
  /** The agents share the limit; those who do not have nothing to find back to. */
  readonly isTogether: boolean;
  /** All agents were at their whole limit, and knew each other. */
  readonly isRecovered: boolean;
  readonly isWhole: boolean;
  /** Beside a noisy neighbour: what the others got of what they wanted, 0 to 1. */
  readonly othersServed?: number | undefined;
}

export interface Verdict {
  readonly isRight: boolean;
  /** One sentence for each thing that is judged. */
  readonly sentences: readonly string[];
}

/** Agents are told less than the provider allows, so that nothing is above it; but on a machine that stands still for a
 * moment, what was decided one after the other arrives together. That is not the swarm's doing. */
const SLACK = { part: 0.1, ms: 500 } as const;

function mostRatio(windowMs: number): number {
  return 1 + Math.max(SLACK.part, SLACK.ms / windowMs);
}

/** Did the limit hold, and is the swarm as it was? */
export function judge(figures: Figures, { isTogether, isRecovered, isWhole, othersServed }: Ending): Verdict {
  const { maxWindowRatio, reductions, recoveries, sent, rejected429 } = figures;
  const isWithin = maxWindowRatio <= mostRatio(figures.limit.windowMs);
  const sentences = [
    limitSentence(isWithin, maxWindowRatio),
    isTogether
      ? recovery(reductions, recoveries, isRecovered)
      : `${rejected429} of ${sent} requests were refused: nobody knows what the others send.`,
    ...(othersServed === undefined ? [] : [`The quiet agents got ${percentOf(othersServed)} of what they wanted.`]),
    ...(isWhole || !isTogether ? [] : ["The swarm did not find together again: not every agent knows all others."]),
  ];
  return { isRight: isWithin && (!isTogether || (isRecovered && isWhole)), sentences };
}

function limitSentence(isWithin: boolean, ratio: number): string {
  const percent = `${percentOf(ratio)} of it`;
  if (!isWithin) return `The limit was exceeded: in one minute ${percent} was sent.`;
  if (ratio > 1) return `The limit held, but for what a machine that paused sends at once: ${percent} in one minute.`;
  return `The limit held: the most that was sent in any minute was ${percent}.`;
}

function recovery(reductions: number, recoveries: number, isRecovered: boolean): string {
  if (!isRecovered) return "The swarm did not recover: some agents are still below their limit.";
  if (reductions === 0) return "No agent had to cut back.";
  return `The swarm cut back ${times(reductions)} and recovered ${times(recoveries)}.`;
}

const percentOf = (part: number): string => `${(100 * part).toFixed(1)} %`;

function times(count: number): string {
  return count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
}
