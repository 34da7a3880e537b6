import { addQuota } from "./agenda.ts";
import type { Agent, Peer } from "./agent.ts";
import { type Amounts, addTo, at, isZero } from "./amounts.ts";
import { want } from "./demand.ts";
import { dimensionsOf, hasSameDimensions, indicesOf, pick } from "./dimensions.ts";
import { enterIsolation } from "./isolation-budget.ts";
import { keepSnapshot } from "./join-snapshot.ts";
import { dropRemoved, effectiveLimits, holdFor, suspectAfterMs } from "./membership.ts";
import { projected, rewindowed } from "./projection.ts";
import { type BudgetRange, newQuota, type PeerQuota, type Quota, type QuotaConfig } from "./quota.ts";
import { receiveReport } from "./receive.ts";
import { takeRemembered } from "./remembered-reports.ts";
import { restoreTotals, saveTotals } from "./saved-totals.ts";
import { noteChange, repeatsOf, reportBy } from "./schedule.ts";
import { BINS } from "./usage-window.ts";

/**
 * Adds or changes a quota. A changed limit keeps the quota. A changed window or other dimensions make a new quota,
 * which inherits the usage of the dimensions that stay, the level, and the reports of peers. A quota that is new to
 * this agent receives the remembered reports on it.
 */
export function configure(agent: Agent, config: QuotaConfig, now: number): void {
  const known = agent.quotas.get(config.name);
  const isSame = known && known.config.windowMs === config.windowMs && hasSameDimensions(known.config, config);
  const quota = isSame ? relimit(agent, known, config) : replace(agent, known, config, now);
  agent.removed.delete(config.name);
  dropRemoved(agent, now);
  effectiveLimits(agent, quota);
  reportBy(agent, quota, now, repeatsOf(agent, quota));
}

/** Removes a quota. Its usage is reported until it has left the window, because peers still need it. */
export function remove(agent: Agent, name: string, now: number): void {
  const quota = agent.quotas.get(name);
  if (!quota) return;
  want(agent, quota, undefined, undefined, now);
  agent.removed.add(name);
  dropRemoved(agent, now);
}

/** Applies new limits, burst or rules to a quota. */
function relimit({ agenda }: Agent, quota: Quota, config: QuotaConfig): Quota {
  const { isolation } = quota;
  if (isolation.budget) isolation.budget = loweredBudget(isolation.budget, quota.config.limits, config.limits);
  lowerGrant(quota, config.limits);
  quota.config = config;
  agenda.capacityVersion++;
  return quota;
}

/** Scales an isolation budget down when the limit was lowered. A higher limit does not raise it: peers do not hold it free. */
function loweredBudget<B extends BudgetRange>(budget: B, before: Amounts, after: Amounts): B {
  const lower = (amounts: Amounts) => amounts.map((amount, i) => amount * Math.min(1, at(after, i) / at(before, i)));
  return { ...budget, from: lower(budget.from), to: lower(budget.to) };
}

/** Scales the unspent part of a grant down when the limit was lowered. */
function lowerGrant({ allocation: { grant }, usage: { spentTotal }, config }: Quota, limits: Amounts): void {
  if (!grant) return;
  grant.allowed = grant.allowed.map((allowed, i) => {
    const unspent = Math.max(0, allowed - at(spentTotal, i));
    return at(spentTotal, i) + unspent * Math.min(1, at(limits, i) / at(config.limits, i));
  });
}

/** Creates a quota, as the successor of one of the same name with another window or other dimensions if there is one. */
function replace(agent: Agent, known: Quota | undefined, config: QuotaConfig, now: number): Quota {
  let quota: Quota;
  if (known) {
    saveTotals(agent, known);
    quota = successor(agent, known, config, now);
    for (const { quotas } of agent.membership.peers.values()) inheritPeer(quotas, known, quota);
  } else quota = newQuota(config, now);
  restoreTotals(agent, quota);
  addQuota(agent, quota);
  if (!known) receiveRemembered(agent, quota, now);
  // The store's journal is read before the first call, if possible.
  if (!known && agent.store && !agent.store.isStore) agent.store.askAt = Math.min(agent.store.askAt, now);
  return quota;
}

/** Applies the reports that arrived before the quota was configured, and holds capacity free for silent peers. */
function receiveRemembered(agent: Agent, quota: Quota, now: number): void {
  for (const [peer, { report, snapshot, upMs, at: time }] of takeRemembered(agent, quota.config.name)) {
    // A live claim is repeated at every heartbeat, so an older one has ended.
    const isOld = now - time > suspectAfterMs(agent, peer.nextMs);
    receiveReport(agent, peer, isOld ? { ...report, claim: undefined } : report, upMs, time);
    if (snapshot?.report.windowMs !== quota.config.windowMs) continue;
    const bins = projected(quota.config, snapshot.report, undefined)?.joinSnapshot;
    if (bins) keepSnapshot(quota, { at: snapshot.at, upMs: upMs - (time - snapshot.at), bins });
  }
  const silent: Peer[] = [];
  for (const peer of agent.membership.peers.values()) if (peer.state === "silent") silent.push(peer);
  if (silent.length > 0) holdFor(agent, quota, silent, now);
}

/** A new quota with another window or other dimensions that inherits all state of `old` that is still valid. */
function successor(agent: Agent, old: Quota, config: QuotaConfig, now: number): Quota {
  const quota = newQuota(config, old.history.configuredAt);
  const indices = indicesOf(dimensionsOf(config), dimensionsOf(old.config));
  inheritUsage(quota, old, indices, now);
  inheritReporting(agent, quota, old, indices, now);
  Object.assign(quota.backoff, old.backoff);
  Object.assign(quota.claims.virtualTime, old.claims.virtualTime);
  quota.claims.opened = old.claims.opened;
  quota.pacing.lead.inherit(old.pacing.lead, indices);
  quota.pacing.contendedUntil = old.pacing.contendedUntil;
  quota.pacing.spreadUntil = old.pacing.spreadUntil;
  const { joinSnapshot, newcomersUntil, approximateUntil } = old.history;
  quota.history.newcomersUntil = newcomersUntil;
  quota.history.approximateUntil = approximateUntil;
  if (joinSnapshot && old.config.windowMs === config.windowMs)
    quota.history.joinSnapshot = { ...joinSnapshot, bins: joinSnapshot.bins.map((bin) => pick(bin, indices)) };
  quota.isolation.savedSince = old.isolation.savedSince;
  addTo(quota.isolation.heldForSilent, pick(old.isolation.heldForSilent, indices));
  // The store does not know the new quota yet. Until its first reply, the agent keeps to its last agreed share.
  if (agent.store?.isStore && old.allocation.grant?.isAgreed) enterIsolation(agent, old, now);
  const { budget } = old.isolation;
  if (budget) quota.isolation.budget = { ...budget, ...rescaled(budget, old.limits, config.limits, indices) };
  return quota;
}

function inheritUsage({ usage }: Quota, { usage: old }: Quota, indices: readonly number[], now: number): void {
  usage.swarm.inherit(old.swarm, indices, now);
  usage.own.inherit(old.own, indices, now);
  usage.unattributed.inherit(old.unattributed, indices, now);
  usage.external = old.external.map((observed) => ({ ...observed, amounts: pick(observed.amounts, indices) }));
  indices.forEach((index, i) => {
    usage.countedSince[i] = index < 0 ? now : at(old.countedSince, index);
  });
  usage.refundAges = old.refundAges;
  usage.sentAt = old.sentAt;
  addTo(usage.typicalCost, pick(old.typicalCost, indices));
  addTo(usage.recentCost, pick(old.recentCost, indices));
  addTo(usage.recentRefund, pick(old.recentRefund, indices));
}

function inheritReporting(
  agent: Agent,
  quota: Quota,
  { reporting: old }: Quota,
  indices: readonly number[],
  now: number,
): void {
  const { reporting } = quota;
  addTo(reporting.unconfirmed, pick(old.unconfirmed, indices));
  addTo(reporting.unreported, pick(old.unreported, indices));
  for (const report of old.inTransit)
    reporting.inTransit.push({
      ...report,
      unconfirmed: pick(report.unconfirmed, indices),
      demand: pick(report.demand, indices),
    });
  reporting.confirmedDemand = pick(old.confirmedDemand, indices);
  reporting.reportedAt = old.reportedAt;
  reporting.repeats = old.repeats;
  noteChange(agent, quota, now);
  reporting.welcomeUntil = old.welcomeUntil;
}

/**
 * The budget as the same fractions of other limits. A new dimension gets the smallest fraction of the dimensions that
 * stay.
 */
function rescaled({ from, to }: BudgetRange, before: Amounts, after: Amounts, indices: readonly number[]): BudgetRange {
  const rescale = (amounts: Amounts) => {
    const known = amounts.map((amount, i) => Math.min(1, amount / at(before, i)));
    const least = Math.min(1, ...indices.filter((index) => index >= 0).map((index) => at(known, index)));
    return pick(known, indices, least).map((fraction, i) => fraction * at(after, i));
  };
  return { from: rescale(from), to: rescale(to) };
}

/**
 * Converts a peer's report on the old quota to the new one. Its totals stay, so that its next report counts from there on.
 * Its claim is dropped, because it was for the old quota.
 */
function inheritPeer(quotas: Map<string, PeerQuota>, old: Quota, quota: Quota): void {
  const { config } = quota;
  const known = quotas.get(config.name);
  if (!known) return;
  known.claim = undefined;
  const indices = indicesOf(dimensionsOf(config), dimensionsOf(old.config));
  const before = {
    spentTotal: pick(known.report.spentTotal, indices),
    refundedTotal: pick(known.report.refundedTotal, indices),
  };
  const { receivedReport } = known;
  const isSameWindow = receivedReport.windowMs === config.windowMs;
  const report = projected(config, isSameWindow ? receivedReport : rewindowed(config, receivedReport), before);
  if (!report) {
    quotas.delete(config.name);
    return;
  }
  known.report = { ...report, claim: undefined };
  known.heldBudget &&= rescaled(known.heldBudget, old.limits, config.limits, indices);
  // The peer's usage of dimensions that are new to this agent is not counted yet.
  const binMs = config.windowMs / BINS;
  report.bins.forEach((bin, b) => {
    const uncounted = bin.map((amount, i) => ((indices[i] as number) < 0 ? amount : 0));
    if (!isZero(uncounted)) quota.usage.swarm.add(known.reportedAt - b * binMs, uncounted);
  });
}
