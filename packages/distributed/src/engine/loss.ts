import type { Agent } from "./agent.ts";

/** Weight of one message in the mean. */
const WEIGHT = 1 / 64;
/** Gaps above this many messages come from outages. */
const LONGEST_GAP = 5;
/** Probability below which a series of lost messages is ruled out as the reason for a silence. */
const IMPROBABLE = 1e-4;
/** Upper bound of the silence, in heartbeats, whatever the loss. A stranger who skips sequence numbers can reach it. */
const MOST_HEARTBEATS = 12;

/** Updates the mean loss by a message of a peer that arrived after `missed` others of that peer were lost. */
export function noteReceived({ link }: Agent, missed: number): void {
  for (let i = Math.min(missed, LONGEST_GAP); i > 0; i--) link.lossRate += (1 - link.lossRate) * WEIGHT;
  link.lossRate -= link.lossRate * WEIGHT;
}

/** Number of heartbeats of silence after which loss cannot be the reason: the usual number, or more where much is lost. */
export function silentHeartbeats({ link, config }: Agent): number {
  const { suspectAfterHeartbeats } = config.tuning;
  if (link.lossRate <= 0) return suspectAfterHeartbeats;
  const improbable = Math.log(IMPROBABLE) / Math.log(link.lossRate);
  return Math.max(suspectAfterHeartbeats, Math.min(MOST_HEARTBEATS, improbable));
}
