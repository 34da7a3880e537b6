import { hash32 } from "../hash.ts";
import { type Agent, joiningUntil, shareByWeight } from "./agent.ts";
import { type Amounts, addTo, at, fits, isEqual, minus, scaled, sizeOf, takeFrom, zeros } from "./amounts.ts";
import { availableOf, capacityOf, sendableOf } from "./capacity.ts";
import type { ClaimReport } from "./message.ts";
import { leadOf } from "./pacing.ts";
import type { Claims, OwnClaim, PeerQuota, Quota } from "./quota.ts";
import { noteChange, repeatsOf, reportBy, settleMsOf } from "./schedule.ts";
import { slotsToClaim } from "./slots.ts";
import { smallestSubWindow } from "./sub-windows.ts";
import { isBefore, nextVirtualTime } from "./virtual-time.ts";

/** Opens, enlarges or withdraws the own claim, so that it covers the next waiting call. */
export function claimFor(agent: Agent, quota: Quota, next: Amounts, now: number): void {
  const { claims, isolation } = quota;
  // While the level is too low for a large call, its claim must not block the claims behind it.
  if (!fits(next, minus(capacityOf(agent, quota, now), isolation.heldForSilent))) {
    withdrawClaim(agent, quota, now);
    return;
  }
  if (claims.own && fits(next, claims.own.amounts)) return;
  open(agent, quota, next, now);
}

/** Withdraws the own claim, if there is one, and reports that. */
export function withdrawClaim(agent: Agent, quota: Quota, now: number): void {
  if (!quota.claims.own) return;
  quota.claims.own = undefined;
  noteChange(agent, quota, now);
  reportBy(agent, quota, now, repeatsOf(agent, quota));
}

function open(agent: Agent, quota: Quota, next: Amounts, now: number): void {
  const { id, tuning } = agent.config;
  const { claims, pacing, history, config } = quota;
  const amounts = amountsToClaim(agent, quota, next, now);
  const count = ++claims.opened;
  const virtualTime =
    now < history.approximateUntil
      ? Math.max(claims.virtualTime.own, startOf(agent, claims))
      : nextVirtualTime(claims.virtualTime, toleratedLag(agent, quota));
  claims.ahead = undefined;
  pacing.spreadUntil = now;
  claims.own = {
    amounts,
    perMs: scaled(amounts, 1 / Math.min(tuning.spreadMs, config.windowMs / 60)),
    virtualTime,
    tie: hash32(`${id} ${count}`),
    publishedAt: Infinity,
    seq: Infinity,
    isChecked: false,
  };
  agent.agenda.holding.add(quota);
  noteChange(agent, quota, now);
  reportBy(agent, quota, now, repeatsOf(agent, quota));
}

/**
 * Tolerated lag in virtual time, for claims that are still being published and served. Zero with equal weights, because
 * all agents lag by the same amount.
 */
export function toleratedLag({ config, membership: { members, weights } }: Agent, quota: Quota): number {
  if (weights === members * config.weight) return 0;
  return config.tuning.lateMs / quota.config.windowMs / weights;
}

/** Virtual time at which a newcomer starts: beside the first claim, not behind the last. */
function startOf({ config, membership }: Agent, { others, virtualTime }: Claims): number {
  let first = virtualTime.swarm;
  // Claims of isolated agents, and of agents that have received no virtual time yet, have virtual time 0.
  for (const { claim } of others) if (claim && claim.virtualTime > 0) first = Math.min(first, claim.virtualTime);
  return Math.max(first, virtualTime.swarm - config.tuning.debt / membership.weights);
}

/**
 * Amounts of a new claim: the next call, plus a quantum of this agent's share or of the free capacity for the demand
 * behind it, or more when no other agent claims anything. If that covers the whole demand, the claim also includes some
 * calls that may arrive while the claim is published, because they would otherwise wait for another claim.
 */
function amountsToClaim(agent: Agent, quota: Quota, next: Amounts, now: number): number[] {
  const { quantum, spare } = agent.config.tuning;
  const { claims, limits, demand } = quota;
  const settleMs = settleMsOf(agent, quota);
  const share = shareByWeight(agent, now);
  if (quota.slots) return [slotsToClaim(quota, share, at(availableOf(agent, quota, now), 0), settleMs)];
  const size = sizeOf(demand.all, limits);
  // A joining agent has not received the claims of agents that join at the same time.
  const isOnly = claims.others.size === 0 && now >= joiningUntil(agent);
  // Publishing a claim takes time, so in a short window a claim must be larger for the limit to be used.
  let most = Math.min(1, Math.max(quantum, (1.5 * settleMs) / quota.config.windowMs)) * share;
  const lead = leadOf(agent, quota, now);
  if (lead) {
    // At a steady pace several claims must be under way at once to avoid a gap after each claim.
    const ahead = sizeOf(lead, limits) * agent.membership.members * share;
    // A few agents with much demand claim more at a time than many: together slightly more than the lead.
    const ofFew = (1.25 * ahead) / (claims.others.size + 1);
    if (ahead < Infinity) most = Math.min(Math.max(most, ofFew), isOnly ? ahead : ahead / 2);
  }
  most = Math.min(most, subWindowShare(quota, isOnly ? 1 : share, quantum, settleMs));
  const available = sendableOf(agent, quota, now);
  const free = smallestSize(minus(available, claims.sum), limits);
  most = Math.max(most, smallestSize(available, limits) * share, free * (isOnly ? 0.5 : quantum));
  const factor = size > most ? most / size : 1;
  const amounts = next.map((amount, i) => Math.max(amount, at(demand.all, i) * factor));
  const more = scaled(next, spare);
  if (size + sizeOf(more, limits) <= free * quantum) addTo(amounts, more);
  return amounts;
}

/**
 * Size of a claim in the smallest sub-window, in limits. As in a quota with such a window, publishing takes time, so the
 * claim must be larger for the limit to be used.
 */
function subWindowShare(quota: Quota, share: number, quantum: number, settleMs: number): number {
  const smallest = smallestSubWindow(quota);
  if (!smallest) return Infinity;
  return smallest.part * Math.min(1, Math.max(quantum, (1.5 * settleMs) / smallest.windowMs)) * share;
}

/** The smallest fraction of any limit, at least 0. */
function smallestSize(amounts: Amounts, limits: Amounts): number {
  return Math.max(0, Math.min(...amounts.map((amount, i) => amount / at(limits, i))));
}

/** True when all agents have received the claim. */
export function isKnownToAll(agent: Agent, quota: Quota, claim: OwnClaim, now: number): boolean {
  if (claim.publishedAt + settleMsOf(agent, quota) > now) return false;
  return !agent.config.echoes || claim.seq <= agent.link.echoedSeq;
}

/** Sum of the claims that are served before the own claim. */
export function claimedAheadOf({ claims, limits }: Quota): Amounts {
  if (!claims.ahead) {
    const { own } = claims;
    claims.ahead = zeros(limits.length);
    for (const { claim } of claims.others) if (claim && own && isBefore(claim, own)) addTo(claims.ahead, claim.amounts);
  }
  return claims.ahead;
}

/** The peer's claim that is served first. */
export function headClaimOf({ claims }: Quota): ClaimReport | undefined {
  if (!claims.head) for (const peer of claims.others) if (isFirst(peer.claim, claims)) claims.head = peer;
  return claims.head?.claim;
}

function isFirst(claim: ClaimReport | undefined, { head }: Claims): boolean {
  return claim !== undefined && (!head?.claim || isBefore(claim, head.claim));
}

/**
 * Replaces a peer's claim and updates the sums and the head claim incrementally, because a scan of all claims would be
 * slow. Returns true when the claim differs from the previous one.
 */
export function setClaim({ claims }: Quota, peer: PeerQuota, claim: ClaimReport | undefined): boolean {
  const { claim: known } = peer;
  peer.claim = claim;
  if (known === claim) return false;
  const isSamePlace = known?.tie === claim?.tie && known?.virtualTime === claim?.virtualTime;
  // Most messages repeat the known claim.
  if (known && claim && isSamePlace && isEqual(known.amounts, claim.amounts)) return !isEqual(known.next, claim.next);
  const { own, ahead } = claims;
  if (known) {
    takeFrom(claims.sum, known.amounts);
    if (ahead && own && isBefore(known, own)) takeFrom(ahead, known.amounts);
    if (claims.head === peer && !isSamePlace) claims.head = undefined;
  }
  if (claim) {
    claims.others.add(peer);
    addTo(claims.sum, claim.amounts);
    if (ahead && own && isBefore(claim, own)) addTo(ahead, claim.amounts);
    if (claims.head && isFirst(claim, claims)) claims.head = peer;
  } else if (claims.others.delete(peer) && claims.others.size === 0) claims.sum.fill(0);
  return true;
}
