import type { Figures } from "./figures.ts";

/** The final state of a swarm. */
export interface Ending {
  /** Whether the agents share a limit; others have no common state to recover. */
  readonly isTogether: boolean;
  /** Whether all agents had their whole limit, and knew each other. */
  readonly isRecovered: boolean;
  readonly isWhole: boolean;
  /** With a noisy neighbour: the fraction of their demand that the other agents got, 0 to 1. */
  readonly othersServed?: number | undefined;
}

export interface Verdict {
  readonly isRight: boolean;
  /** One sentence for each criterion. */
  readonly sentences: readonly string[];
}

/**
 * Tolerance of the limit check. Agents are configured with less than the provider allows, so the limit should hold
 * exactly; but when the machine pauses, requests admitted one after the other arrive together, which is not the swarm's
 * fault.
 */
const SLACK = { part: 0.1, realMs: 500 } as const;

function mostRatio({ limit: { windowMs }, speed }: Figures): number {
  return 1 + Math.max(SLACK.part, (SLACK.realMs * speed) / windowMs);
}

/** Decides whether the limit held and the swarm recovered. */
export function judge(figures: Figures, { isTogether, isRecovered, isWhole, othersServed }: Ending): Verdict {
  const { maxWindowRatio, reductions, recoveries, sent, rejected429 } = figures;
  const isWithin = maxWindowRatio <= mostRatio(figures);
  const sentences = [
    limitSentence(isWithin, maxWindowRatio),
    isTogether
      ? recovery(reductions, recoveries, isRecovered)
      : `${rejected429} of ${sent} requests were refused: the agents do not know each other's usage.`,
    ...(othersServed === undefined ? [] : [`The quiet agents got ${percentOf(othersServed)} of their demand.`]),
    ...(isWhole || !isTogether ? [] : ["The membership did not recover: not every agent knows all others."]),
  ];
  return { isRight: isWithin && (!isTogether || (isRecovered && isWhole)), sentences };
}

function limitSentence(isWithin: boolean, ratio: number): string {
  const percent = `${percentOf(ratio)} of it`;
  if (!isWithin) return `The limit was exceeded: in one minute ${percent} was sent.`;
  if (ratio > 1)
    return `The limit held within the tolerance for pauses of the machine: ${percent} was sent in one minute.`;
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
