import { touch } from "./agenda.ts";
import type { Agent, Peer } from "./agent.ts";
import { type Amounts, addTo, sizeOf, takeFrom } from "./amounts.ts";
import { availableOf } from "./capacity.ts";
import { knownQuotaOf, updateHeld } from "./membership.ts";
import type { Quota } from "./quota.ts";
import { busyMsOf, reportBy, settleMsOf } from "./schedule.ts";

/** Fraction of the limit from which a claim is answered. Under contention claims are smaller, apart from those of large calls. */
const LARGE = 0.04;

/**
 * Answers a large claim of a peer with a report, unless this agent has just sent one. Large claims are those of bursts into
 * free capacity, which agents on two sides of a split would use twice.
 */
export function answerClaim(agent: Agent, quota: Quota, claim: Amounts, now: number): void {
  if (isAnswered(agent, quota, claim))
    reportBy(agent, quota, Math.max(now, agent.link.publishedAt + settleMsOf(agent, quota)), 0);
}

/** In large swarms so many answers would cost more than they are worth. */
function isAnswered({ membership, config }: Agent, quota: Quota, claim: Amounts): boolean {
  return !quota.slots && membership.members <= config.tuning.crowd && sizeOf(claim, quota.limits) >= LARGE;
}

/**
 * Holds capacity free for peers that may not have received the own claim, before the claim is served. A claim is known to
 * all only if no peer is cut off, and a split is suspected after seconds. All agents answer a large claim, and send at
 * every heartbeat while any agent claims, so a peer that does neither is late. It may use its part of the capacity that
 * was free at its last word, and no more.
 */
export function holdForLate(agent: Agent, quota: Quota, claim: Amounts, now: number): void {
  if (quota.slots) return;
  const settleMs = settleMsOf(agent, quota);
  const lateMs = settleMs + (isAnswered(agent, quota, claim) ? settleMs : busyMsOf(agent));
  let isHeld = false;
  for (const peer of agent.membership.peers.values()) {
    if (peer.state !== "live" || peer.observes || now - peer.receivedAt <= lateMs) continue;
    const known = knownQuotaOf(peer, quota, now);
    if (known.heldBudget) continue;
    const part = peer.weight / agent.membership.weights;
    const free = freeAt(agent, quota, peer.receivedAt, now).map((amount) => Math.max(0, amount) * part);
    known.heldBudget = { from: free, to: free };
    peer.isLate = true;
    isHeld = true;
  }
  if (isHeld) updateHeld(agent, quota, now);
}

/** The capacity that was free at `time`: not used, and not claimed by claims that were known by then. */
function freeAt(agent: Agent, quota: Quota, time: number, now: number): number[] {
  const { usage, claims } = quota;
  const free = availableOf(agent, quota, now);
  addTo(free, usage.swarm.since(time));
  for (const { claim, claimedAt } of claims.others) if (claim && claimedAt <= time) takeFrom(free, claim.amounts);
  if (claims.own && claims.own.publishedAt <= time) takeFrom(free, claims.own.amounts);
  return free;
}

/** Releases the capacity held for a late peer that was heard again. Returns true when there was any. */
export function releaseLate(agent: Agent, peer: Peer, now: number): boolean {
  if (!peer.isLate) return false;
  peer.isLate = false;
  for (const [name, known] of peer.quotas) {
    if (!known.heldBudget) continue;
    known.heldBudget = undefined;
    const quota = agent.quotas.get(name);
    if (!quota) continue;
    updateHeld(agent, quota, now);
    touch(agent.agenda, quota);
  }
  return true;
}
