import { hash32 } from "../hash.ts";
import type { Agent, Peer } from "./agent.ts";
import { type Amounts, addTo, at, fits, isZero, minus, SLACK, scaled, takeFrom, zeros } from "./amounts.ts";
import { availableOf, capacityOf } from "./capacity.ts";
import { isKnownToAll } from "./claim.ts";
import { fairShares } from "./fair-shares.ts";
import type { BudgetRange, PeerQuota, Quota } from "./quota.ts";
import { confirmReported } from "./schedule.ts";
import { heldFraction } from "./silence.ts";
import { wholeShares } from "./slots.ts";
import { isBefore, type Place } from "./virtual-time.ts";

/** The usage and the demand of one agent, as it has reported them. */
interface Needs {
  readonly used: Amounts;
  readonly demand: Amounts;
}

/** The facts about one agent that all agents know. */
interface Member extends Needs {
  /** Key of the peer; undefined for this agent. */
  readonly key: string | undefined;
  readonly weight: number;
  readonly claim: (Place & { readonly amounts: Amounts }) | undefined;
}

/**
 * Returns the isolation budget of each agent, by key, should that agent be isolated from now on; its peers hold the
 * same budget free. All agents that received the same messages compute the same budgets, and the budgets add up to the
 * capacity.
 *
 * At first (`from`) an agent keeps its usage, its claim if the claim would be served, and its share of the free
 * capacity, so that the running window stays within the limit. One window later (`to`) the agent has its fair share.
 * Peers may have used capacity that became free after `since`, when this agent last received a message.
 */
export function agreement(agent: Agent, quota: Quota, now: number, since = now): Map<string | undefined, BudgetRange> {
  confirmReported(agent, quota, now);
  const available = availableOf(agent, quota, now);
  takeFrom(available, scaled(capacityOf(agent, quota, now), (now - since) / quota.config.windowMs));
  // Peers do not count usage that this agent has not yet reported to them.
  const unconfirmed = unconfirmedUsage(quota);
  addTo(available, unconfirmed);
  const members = membersOf(agent, quota, unconfirmed, now);
  const weights = members.map(({ weight }) => weight);
  const weightSum = weights.reduce((sum, weight) => sum + weight, 0);
  const served = serveInOrder(members, available);
  const remaining = remainingUsage(members, minus(quota.usage.swarm.sum, unconfirmed));
  const capacity = minus(capacityOf(agent, quota, now), heldInTheEnd(agent, quota, now));
  const shares = finalShares(members, capacity, remaining, weights, weightSum);
  const to = quota.slots ? [wholeSlots(agent, members, shares[0] ?? [], at(capacity, 0))] : shares;
  return new Map(
    members.map((member, j) => {
      const { key, used, weight } = member;
      const claimed = served.get(member);
      const from = used.map((amount, i) => {
        const free = (Math.max(0, at(available, i)) * weight) / weightSum;
        const first = amount * at(remaining, i) + (claimed ? at(claimed, i) : 0) + free;
        return quota.slots ? Math.floor(first + SLACK) : first;
      });
      return [key, { from, to: to.map((shares) => at(shares, j)) }];
    }),
  );
}

/** This agent's fair share: the budget that {@link agreement} ends with for it. The shares of its peers are not computed. */
export function ownShare(agent: Agent, quota: Quota, now: number): number[] {
  if (quota.slots) return [...(agreement(agent, quota, now).get(undefined)?.to ?? zeros(quota.limits.length))];
  confirmReported(agent, quota, now);
  const { swarm, own } = quota.usage;
  swarm.expire(now);
  own.expire(now);
  const unconfirmed = unconfirmedUsage(quota);
  const members: Needs[] = [{ used: minus(own.sum, unconfirmed), demand: quota.reporting.confirmedDemand }];
  const weights = [agent.config.weight];
  let weightSum = agent.config.weight;
  for (const { weight, state, quotas } of agent.membership.peers.values()) {
    const known = quotas.get(quota.config.name);
    if (!isInAgreement(state, known)) continue;
    weightSum += weight;
    // Members without usage and demand only count by their weights.
    if (!known || (isZero(known.report.used) && isZero(known.report.demand))) continue;
    members.push(known.report);
    weights.push(weight);
  }
  const remaining = remainingUsage(members, minus(swarm.sum, unconfirmed));
  const capacity = minus(capacityOf(agent, quota, now), heldInTheEnd(agent, quota, now));
  return capacity.map((amount, i) => {
    const most = Math.max(0, amount);
    let wanted = 0;
    for (const needs of members) wanted += needOf(needs, remaining, i);
    if (wanted >= most) return at(finalSharesOf(i, members, most, remaining, weights, weightSum), 0);
    return needOf(members[0] as Needs, remaining, i) + ((most - wanted) * agent.config.weight) / weightSum;
  });
}

/** The final budgets as whole slots, assigned to the members in an order that is the same for all agents. */
function wholeSlots({ config }: Agent, members: readonly Member[], shares: readonly number[], most: number): number[] {
  const order = members.map(({ key }) => hash32(key ?? `${config.id} ${config.incarnation}`));
  return wholeShares(shares, order, Math.max(0, most));
}

/** Own usage in the window that peers may not know. */
function unconfirmedUsage({ reporting, usage }: Quota): number[] {
  return reporting.unconfirmed.map((amount, i) => Math.min(amount, Math.max(0, at(usage.own.sum, i))));
}

function membersOf(agent: Agent, quota: Quota, unconfirmed: Amounts, now: number): Member[] {
  const { claims, reporting, usage, config, limits } = quota;
  const nothing = zeros(limits.length);
  const members: Member[] = [
    {
      key: undefined,
      used: minus(usage.own.sum, unconfirmed),
      // Demand that peers have not received is not part of the agreement.
      demand: reporting.confirmedDemand,
      weight: agent.config.weight,
      claim: claims.own && isKnownToAll(agent, quota, claims.own, now) ? claims.own : undefined,
    },
  ];
  for (const { key, weight, state, quotas } of agent.membership.peers.values()) {
    const known = quotas.get(config.name);
    if (!isInAgreement(state, known)) continue;
    const { used = nothing, demand = nothing } = known?.report ?? {};
    members.push({ key, used, demand, weight, claim: known?.claim });
  }
  return members;
}

/** True unless a peer has left, or the capacity that is held for it is already subtracted. */
function isInAgreement(state: Peer["state"], known: PeerQuota | undefined): boolean {
  return state !== "left" && !known?.heldBudget;
}

/**
 * Final budgets of the peers that fell silent earlier. Less is held for them now, but their budgets reach these amounts
 * within a window.
 */
function heldInTheEnd(agent: Agent, { config: { name, windowMs }, limits }: Quota, now: number): number[] {
  const sum = zeros(limits.length);
  for (const { state, quotas, receivedAt, endedAt } of agent.membership.peers.values()) {
    const held = state === "left" ? undefined : quotas.get(name)?.heldBudget;
    if (held)
      addTo(sum, scaled(held.to, heldFraction(agent.config.isolation, now - receivedAt, now - endedAt, windowMs)));
  }
  return sum;
}

/** Returns the claims that the available capacity can serve, in claim order, and subtracts them from `available`. */
function serveInOrder(members: readonly Member[], available: number[]): Map<Member, Amounts> {
  const served = new Map<Member, Amounts>();
  const claimants = members.filter(({ claim }) => claim);
  claimants.sort((a, b) => (isBefore(a.claim as Place, b.claim as Place) ? -1 : 1));
  for (const member of claimants) {
    const { amounts } = member.claim as { amounts: Amounts };
    if (!fits(amounts, available)) break;
    served.set(member, amounts);
    takeFrom(available, amounts);
  }
  return served;
}

/** The fraction of the reported usage that has not expired since it was reported, in each dimension. */
function remainingUsage(members: readonly Needs[], used: Amounts): number[] {
  return used.map((amount, i) => {
    const reported = members.reduce((sum, member) => sum + at(member.used, i), 0);
    const most = Math.max(0, amount);
    return reported > most ? most / reported : 1;
  });
}

/** Max-min fair shares by usage and demand, per dimension. Capacity that nobody demands is divided by weight. */
function finalShares(
  members: readonly Needs[],
  capacity: Amounts,
  remaining: Amounts,
  weights: readonly number[],
  weightSum: number,
): number[][] {
  return capacity.map((amount, i) => finalSharesOf(i, members, Math.max(0, amount), remaining, weights, weightSum));
}

function finalSharesOf(
  dimension: number,
  members: readonly Needs[],
  most: number,
  remaining: Amounts,
  weights: readonly number[],
  weightSum: number,
): number[] {
  const fair = fairShares(
    most,
    members.map((needs) => needOf(needs, remaining, dimension)),
    weights,
  );
  const rest = Math.max(0, most - fair.reduce((sum, share) => sum + share, 0));
  return fair.map((share, j) => share + (rest * at(weights, j)) / weightSum);
}

/** The usage of an agent that remains in the window, and its demand. */
function needOf({ used, demand }: Needs, remaining: Amounts, dimension: number): number {
  return Math.max(0, at(used, dimension) * at(remaining, dimension) + at(demand, dimension));
}
