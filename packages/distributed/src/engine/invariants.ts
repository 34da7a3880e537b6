import { type Agent, shareByWeight } from "./agent.ts";
import { agreement } from "./agreement.ts";
import { type Amounts, addTo, at, fits, zeros } from "./amounts.ts";
import { availableOf, capacityOf } from "./capacity.ts";
import type { Effects, Event } from "./events.ts";
import { modeOf } from "./modes/mode-of.ts";
import type { Quota } from "./quota.ts";
import { isBefore } from "./virtual-time.ts";

/** Tolerance for rounding errors. */
const CLOSE = 1e-3;

/** Which of the slower invariants to check. */
export interface InvariantOptions {
  /** Recompute the sums of claims. */
  readonly claims: boolean;
  /** Recompute the agreement of all agents. */
  readonly agreement: boolean;
}

/** Returns the invariant that an agent violates after a step; undefined when all hold. For simulations and tests. */
export function violatedInvariant(
  agent: Agent,
  event: Event,
  effects: Effects,
  options: InvariantOptions,
  now: number,
): string | undefined {
  if (effects.wakeAt < now) return "no timer is set in the past";
  for (const [name, quota] of agent.quotas) {
    const isTaken = effects.taken && event.type === "take" && event.quota === name;
    const violated =
      (isTaken && violatedByTake(agent, quota, now)) ||
      violatedIn(agent, quota) ||
      (options.claims && violatedByClaims(quota)) ||
      (options.agreement &&
        !isAgreementWithin(agent, quota, now) &&
        "the agreed budgets sum up to at most the capacity");
    if (violated) return violated;
  }
  return undefined;
}

function violatedByTake(agent: Agent, quota: Quota, now: number): string | undefined {
  const { usage, allocation, claims } = quota;
  switch (modeOf(agent, quota, now).name) {
    case "joining":
      return "a joining agent sends nothing";
    case "isolated":
      return undefined;
    case "allocated":
      return fits(usage.spentTotal, allocation.grant?.allowed ?? [])
        ? undefined
        : "nothing is sent that the store has not granted";
    case "alone":
      return isPositive(availableOf(agent, quota, now)) ? undefined : "nothing is sent beyond the capacity";
    case "member":
      if (!isPositive(availableOf(agent, quota, now))) return "nothing is sent beyond the capacity";
      return claims.own || quota.slots || isWithinPart(agent, quota, now)
        ? undefined
        : "without a claim no agent takes more than its part of the free capacity";
  }
}

function violatedIn(agent: Agent, quota: Quota): string | undefined {
  const { claims, reporting, demand } = quota;
  const { demanding, reports, holding, changedAt } = agent.agenda;
  const isInAgenda =
    demanding.has(quota) === (demand.next !== undefined) &&
    reports.timeOf(quota) === reporting.dueAt &&
    reporting.changedAt <= changedAt &&
    (!claims.own || holding.has(quota));
  if (!isInAgenda) return "the agenda agrees with its quotas";
  if (!isPositive(reporting.unconfirmed) || !isPositive(claims.sum)) return "sums are never negative";
  if (claims.own && !isPositive(claims.own.amounts)) return "a claim is never overdrawn";
  if (reporting.inTransit.length > 1_000 || claims.others.size > agent.membership.peers.size)
    return "reports in transit and claims are bounded";
  return undefined;
}

/** True when the usage unknown to peers is within this agent's part of that usage and the free capacity. */
function isWithinPart(agent: Agent, quota: Quota, now: number): boolean {
  const available = availableOf(agent, quota, now);
  const part = shareByWeight(agent, now);
  const { sum } = quota.claims;
  return quota.reporting.unconfirmed.every(
    (unconfirmed, i) => unconfirmed <= (at(available, i) - at(sum, i) + unconfirmed) * part + CLOSE,
  );
}

function violatedByClaims({ claims, limits }: Quota): string | undefined {
  const ahead = zeros(limits.length);
  const sum = zeros(limits.length);
  for (const { claim } of claims.others) {
    if (!claim) return "every claimant has a claim";
    addTo(sum, claim.amounts);
    if (claims.own && isBefore(claim, claims.own)) addTo(ahead, claim.amounts);
  }
  if (!isClose(claims.sum, sum)) return "the sum of claims is up to date";
  return claims.ahead && claims.own && !isClose(claims.ahead, ahead)
    ? "the sum of the claims ahead is up to date"
    : undefined;
}

function isAgreementWithin(agent: Agent, quota: Quota, now: number): boolean {
  const budgets = [...agreement(agent, quota, now).values()];
  const { usage, claims } = quota;
  return capacityOf(agent, quota, now).every((amount, i) => {
    const promised = at(usage.swarm.sum, i) + at(claims.sum, i) + (claims.own ? at(claims.own.amounts, i) : 0);
    const most = Math.max(amount, promised, at(usage.own.sum, i)) + CLOSE;
    const sum = (end: "from" | "to") => budgets.reduce((total, budget) => total + at(budget[end], i), 0);
    return sum("from") <= most && sum("to") <= amount + CLOSE;
  });
}

function isPositive(amounts: Amounts): boolean {
  for (let i = 0; i < amounts.length; i++) if (at(amounts, i) < -CLOSE) return false;
  return true;
}

function isClose(a: Amounts, b: Amounts): boolean {
  return a.every((amount, i) => Math.abs(amount - at(b, i)) < CLOSE);
}
