import { type Agent, shareByWeight } from "../agent.ts";
import { ownShare } from "../agreement.ts";
import { type Amounts, addTo, at, fits, SLACK, takeFrom, zeros } from "../amounts.ts";
import { canBackfill } from "../backfill.ts";
import { sendableIn, sendableOf } from "../capacity.ts";
import { claimedAheadOf, claimFor, isKnownToAll } from "../claim.ts";
import { expiryAt, freeAtFor, shortfallEndsAt } from "../free-at.ts";
import { holdForLate } from "../late-peers.ts";
import { inPaceAt, isInPace } from "../pacing.ts";
import type { OwnClaim, Quota } from "../quota.ts";
import { confirmReported, repeatsOf, reportBy, settleMsOf } from "../schedule.ts";
import { reusePermit, unconfirmedIn } from "../slots.ts";
import type { Mode, Permit } from "./mode.ts";

/** One of several agents on a bus: small calls take a part of the free capacity, all others wait for a claim. */
export const member: Mode = {
  name: "member",

  enter(agent, quota, now) {
    const { own } = quota.claims;
    if (!own || own.isChecked || !isKnownToAll(agent, quota, own, now)) return;
    own.isChecked = true;
    holdForLate(agent, quota, own.amounts, now);
  },

  permit(agent, quota, cost, capacity, now) {
    const reused = reusePermit(agent, quota, cost, now);
    if (reused) return reused;
    const { own } = quota.claims;
    if (own) return claimPermit(agent, quota, own, cost, capacity, now);
    return isWithinPart(agent, quota, cost, capacity, now) ? UNANNOUNCED : undefined;
  },

  pursue: claimFor,

  retryAt(agent, quota, next, now) {
    if (reusePermit(agent, quota, next, now)) return now;
    const { own } = quota.claims;
    if (!own) return Infinity;
    const settledAt = own.publishedAt + settleMsOf(agent, quota);
    if (settledAt > now) return settledAt;
    if (!isKnownToAll(agent, quota, own, now)) return Infinity;
    const available = sendableOf(agent, quota, now);
    if (!fits(next, available)) return shortfallEndsAt(agent, quota, next, zeros(next.length), now);
    const ahead = claimedAheadOf(quota);
    const paceAt = inPaceAt(agent, quota, ahead, now);
    takeFrom(available, ahead);
    if (fits(next, available)) return paceAt;
    if (canBackfill(agent, quota, own, next, ahead, now)) return inPaceAt(agent, quota, undefined, now);
    return Math.max(paceAt, expiryAt(agent, quota, next, ahead, now));
  },

  availableAt(agent, quota, cost, ahead, freeAt, now) {
    const before = [...claimedAheadOf(quota)];
    if (ahead) addTo(before, ahead);
    // A cost above this agent's part of the free capacity has to be claimed first, and a claim that does not cover the
    // cost is replaced by a new one.
    const { own } = quota.claims;
    const isClaimed = own && own.publishedAt < Infinity && fits(cost, own.amounts);
    const publishedAt = isClaimed ? own.publishedAt : now;
    return Math.max(publishedAt + settleMsOf(agent, quota), freeAtFor(agent, quota, cost, before, freeAt, now));
  },

  available(agent, quota, now) {
    const { own, sum } = quota.claims;
    const available = sendableOf(agent, quota, now);
    if (own) {
      if (!isKnownToAll(agent, quota, own, now)) return zeros(available.length);
      const ahead = claimedAheadOf(quota);
      return available.map((amount, i) => Math.min(at(own.amounts, i), amount - at(ahead, i)));
    }
    const part = shareByWeight(agent, now);
    return available.map((amount, i) => {
      const unconfirmed = unconfirmedIn(quota, i);
      return (amount - at(sum, i) + unconfirmed) * part - unconfirmed;
    });
  },

  share(agent, quota, now) {
    return ownShare(agent, quota, now);
  },
};

/** A call within the own claim, once the capacity holds it and all claims before it. */
const CLAIMED: Permit = {
  spend(_agent, { claims }, cost) {
    if (claims.own) takeFrom(claims.own.amounts, cost);
  },
};

/** A call within the own claim that overtakes earlier claims without delaying them. */
const BACKFILLED: Permit = {
  spend(agent, quota, cost, now) {
    // The overtaken agents do not hold capacity free for this call, so they must know of it.
    reportBy(agent, quota, now, repeatsOf(agent, quota));
    CLAIMED.spend(agent, quota, cost, now);
  },
};

/** A call without a claim, within this agent's part of the free capacity. */
const UNANNOUNCED: Permit = {
  spend(_agent, { reporting }, cost) {
    addTo(reporting.unconfirmed, cost);
    addTo(reporting.unreported, cost);
  },
};

function claimPermit(
  agent: Agent,
  quota: Quota,
  claim: OwnClaim,
  cost: Amounts,
  capacity: Amounts,
  now: number,
): Permit | undefined {
  if (!isKnownToAll(agent, quota, claim, now) || !fits(cost, claim.amounts)) return undefined;
  const available = sendableIn(agent, quota, capacity, now);
  if (!fits(cost, available)) return undefined;
  const ahead = claimedAheadOf(quota);
  takeFrom(available, ahead);
  const isNext = fits(cost, available);
  if (!isNext && !canBackfill(agent, quota, claim, cost, ahead, now)) return undefined;
  if (!isInPace(agent, quota, isNext ? ahead : undefined, now)) return undefined;
  return isNext ? CLAIMED : BACKFILLED;
}

/**
 * True when the cost is within this agent's part of the free capacity: the limit holds even if all agents take their parts at
 * once. Usage that peers may not know yet counts against the part.
 */
function isWithinPart(agent: Agent, quota: Quota, cost: Amounts, capacity: Amounts, now: number): boolean {
  if (!isInPace(agent, quota, undefined, now)) return false;
  confirmReported(agent, quota, now);
  const free = sendableIn(agent, quota, capacity, now);
  takeFrom(free, quota.claims.sum);
  const part = shareByWeight(agent, now);
  for (let i = 0; i < cost.length; i++) {
    const unconfirmed = unconfirmedIn(quota, i);
    if (unconfirmed + at(cost, i) > (at(free, i) + unconfirmed) * part + SLACK) return false;
  }
  return true;
}
