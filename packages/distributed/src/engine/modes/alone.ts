import type { Agent } from "../agent.ts";
import { ownShare } from "../agreement.ts";
import { type Amounts, addTo, fits, isZero, minus, scaled } from "../amounts.ts";
import { capacityOf, sendableIn } from "../capacity.ts";
import { freeAtFor, shortfallEndsAt } from "../free-at.ts";
import { inPaceAt, isInPace } from "../pacing.ts";
import type { Quota } from "../quota.ts";
import { FREE, type Mode } from "./mode.ts";

/**
 * Without other agents the whole limit is available. An agent that expects peers and has never received a message of
 * one leaves their parts free, because it may have started behind a partition.
 */
export const alone: Mode = {
  name: "alone",
  enter() {},

  permit(agent, quota, cost, capacity, now) {
    if (!isInPace(agent, quota, undefined, now)) return undefined;
    const available = availableAlone(agent, quota, capacity, now);
    return fits(cost, available) || isLargeAndNext(agent, quota, cost, now) ? FREE : undefined;
  },

  pursue() {},

  retryAt(agent, quota, next, now) {
    const available = availableAlone(agent, quota, capacityOf(agent, quota, now), now);
    if (fits(next, available) || isLargeAndNext(agent, quota, next, now)) return inPaceAt(agent, quota, undefined, now);
    // A call that is larger than this agent's part is sent once its window is empty.
    const most = minus(capacityOf(agent, quota, now), leftForOthers(agent, quota, now));
    const large = fits(next, most) ? undefined : quota.usage.swarm.goneAt(quota.usage.swarm.sum);
    return large !== undefined && large > now && large < Infinity
      ? large
      : shortfallEndsAt(agent, quota, next, leftForOthers(agent, quota, now), now);
  },

  availableAt(agent, quota, cost, ahead, freeAt, now) {
    if (partOf(agent) === 1) return freeAtFor(agent, quota, cost, ahead, freeAt, now);
    const all = leftForOthers(agent, quota, now);
    if (ahead) addTo(all, ahead);
    return freeAtFor(agent, quota, cost, all, freeAt, now);
  },

  available(agent, quota, now) {
    return availableAlone(agent, quota, capacityOf(agent, quota, now), now);
  },

  share(agent, quota, now) {
    const share = ownShare(agent, quota, now);
    return scaled(share, partOf(agent));
  },
};

/** The part of the limit for an agent that receives only its own messages. */
function partOf({ config: { expectedAgents = 1, hasBus }, membership }: Agent): number {
  return hasBus && !membership.hasHeard ? 1 / expectedAgents : 1;
}

/** The parts of the expected agents that have never sent a message. */
function leftForOthers(agent: Agent, quota: Quota, now: number): number[] {
  return scaled(capacityOf(agent, quota, now), 1 - partOf(agent));
}

function availableAlone(agent: Agent, quota: Quota, capacity: Amounts, now: number): number[] {
  const available = sendableIn(agent, quota, capacity, now);
  return partOf(agent) === 1 ? available : minus(available, leftForOthers(agent, quota, now));
}

/** True for a call that exceeds this agent's part, and would otherwise never be sent. */
function isLargeAndNext(agent: Agent, quota: Quota, cost: Amounts, now: number): boolean {
  if (partOf(agent) === 1 || !isZero(quota.usage.swarm.sum)) return false;
  const capacity = capacityOf(agent, quota, now);
  return fits(cost, capacity) && !fits(cost, minus(capacity, leftForOthers(agent, quota, now)));
}
