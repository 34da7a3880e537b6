import { removeQuota } from "./agenda.ts";
import type { Agent, Peer } from "./agent.ts";
import { agreement } from "./agreement.ts";
import { type Amounts, addTo, at, copyOf, SLACK, zeros } from "./amounts.ts";
import { setClaim } from "./claim.ts";
import { measureSwarm } from "./delay.ts";
import { budgetAfter } from "./isolation-budget.ts";
import { silentHeartbeats } from "./loss.ts";
import type { QuotaReport } from "./message.ts";
import { observersUsage } from "./observers.ts";
import type { BudgetRange, PeerQuota, Quota } from "./quota.ts";
import { forgetExpired, rememberPeers } from "./remembered-reports.ts";
import { saveTotals } from "./saved-totals.ts";
import { busyMsOf } from "./schedule.ts";
import { heldFraction } from "./silence.ts";
import { freeEnded, orphanSlots } from "./slots.ts";
import { endReplaced } from "./successors.ts";
import { BINS } from "./usage-window.ts";

/** Recounts the live agents and their weights, and the effective limits of all quotas. */
export function countMembers(agent: Agent): void {
  const { membership } = agent;
  membership.members = 1;
  membership.weights = agent.config.weight;
  for (const peer of membership.peers.values()) {
    if (peer.state !== "live") continue;
    membership.members++;
    membership.weights += peer.weight;
  }
  agent.agenda.capacityVersion++;
  for (const quota of agent.quotas.values()) effectiveLimits(agent, quota);
}

/** Counts one more live peer. A full recount for each of a thousand agents that start at once would be slow. */
export function addMember(agent: Agent, peer: Peer): void {
  peer.state = "live";
  agent.membership.members++;
  agent.membership.weights += peer.weight;
  agent.agenda.capacityVersion++;
  for (const [name, known] of peer.quotas) {
    known.heldBudget = undefined;
    const quota = agent.quotas.get(name);
    if (quota) lowerLimits(agent, quota, known.report.limits);
  }
}

/** Sets the effective limits to the smallest that any live agent has configured. */
export function effectiveLimits(agent: Agent, quota: Quota): void {
  quota.limits = copyOf(quota.config.limits);
  agent.agenda.capacityVersion++;
  for (const peer of agent.membership.peers.values()) {
    const limits = peer.state === "live" ? peer.quotas.get(quota.config.name)?.report.limits : undefined;
    if (limits) lowerLimits(agent, quota, limits);
  }
}

export function lowerLimits({ agenda }: Agent, { limits: effective }: Quota, limits: Amounts): void {
  for (let i = 0; i < limits.length; i++) {
    if (at(limits, i) >= at(effective, i)) continue;
    effective[i] = at(limits, i);
    agenda.capacityVersion++;
  }
}

/** Interval between two sweeps. */
export function sweepMsOf(agent: Agent): number {
  return busyMsOf(agent) / 2;
}

/**
 * Detects peers that fell silent, forgets old ones, and updates the capacity that is held free until the next sweep.
 */
export function sweep(agent: Agent, now: number): void {
  const { membership } = agent;
  const forgetMs = forgetAfterMs(agent);
  const lost: Peer[] = [];
  membership.sweptAt = now;
  let isChanged = false;
  for (const peer of membership.peers.values()) {
    const silentMs = now - peer.receivedAt;
    forgetExpired(agent, peer, now);
    if (peer.state === "live") {
      if (silentMs > suspectAfterMs(agent, peer.nextMs)) lost.push(peer);
    } else if (silentMs > forgetMs) {
      for (const [name, known] of peer.quotas) {
        const quota = agent.quotas.get(name);
        if (quota) orphanSlots(quota, peer, known, now);
      }
      membership.peers.delete(peer.key);
      membership.rememberedReports -= peer.remembered.size;
      if (membership.newest.get(peer.id) === peer) membership.newest.delete(peer.id);
      isChanged = true;
    }
  }
  // A live claim is repeated at every heartbeat.
  for (const quota of agent.quotas.values())
    for (const known of quota.claims.others)
      if (now - known.reportedAt > suspectAfterMs(agent, known.nextMs)) setClaim(quota, known, undefined);
  if (lost.length > 0) suspect(agent, lost, now);
  endReplaced(agent, now);
  if (isChanged) countMembers(agent);
  measureSwarm(agent);
  for (const quota of agent.quotas.values()) {
    freeEnded(agent, quota, now);
    updateHeld(agent, quota, now);
    quota.heldForObservers = observersUsage(agent, quota, now);
  }
  dropRemoved(agent, now);
}

/** Drops the removed quotas whose usage has left the window of every peer. */
export function dropRemoved(agent: Agent, now: number): void {
  for (const name of agent.removed) {
    const quota = agent.quotas.get(name);
    if (quota && now - quota.reporting.changedAt < 2 * quota.config.windowMs) continue;
    const { slots, config } = quota ?? {};
    // Calls under way hold their slots until they end, within one lease at most.
    if (slots && slots.starts.length > 0 && now < slots.renewedAt + (config?.leaseMs ?? 0)) continue;
    agent.removed.delete(name);
    if (!quota) continue;
    removeQuota(agent, quota);
    // Without a bus and a store, no other agent knows the totals.
    if (agent.config.hasBus || agent.store) saveTotals(agent, quota);
    rememberPeers(agent, quota, now);
  }
}

/** Silence after which a peer is suspected. Three of the rare messages of an idle agent may get lost. */
export function suspectAfterMs(agent: Agent, nextMs: number): number {
  const { suspectAfterHeartbeats, heartbeatMs } = agent.config.tuning;
  const heartbeats = silentHeartbeats(agent);
  const rareMs = 3.1 * Math.max(nextMs, busyMsOf(agent));
  return Math.max(heartbeats * heartbeatMs, (rareMs * heartbeats) / suspectAfterHeartbeats);
}

/** Marks lost peers: those whose goodbye preceded the silence have left; for all others capacity is held free. */
function suspect(agent: Agent, lost: readonly Peer[], now: number): void {
  const silent = lost.filter(({ byeSeq, seq }) => byeSeq < seq || seq === 0);
  for (const quota of agent.quotas.values()) holdFor(agent, quota, silent, now);
  for (const peer of lost) {
    peer.state = "silent";
    peer.isLate = false;
  }
  for (const peer of lost) if (!silent.includes(peer)) depart(agent, peer, now);
  countMembers(agent);
}

/** Removes a peer that has left from the swarm. Its usage stays in the window. */
export function depart(agent: Agent, peer: Peer, now: number): void {
  if (peer.state === "left") return;
  peer.state = "left";
  dropClaims(agent, peer);
  for (const [name, known] of peer.quotas) {
    known.heldBudget = undefined;
    const quota = agent.quotas.get(name);
    if (quota) orphanSlots(quota, peer, known, now);
  }
  countMembers(agent);
}

export function dropClaims(agent: Agent, peer: Peer): void {
  for (const [name, known] of peer.quotas) {
    const quota = agent.quotas.get(name);
    if (quota) setClaim(quota, known, undefined);
  }
}

/** Holds capacity free for the usage of silent peers, and drops their claims. */
export function holdFor(agent: Agent, quota: Quota, silent: readonly Peer[], now: number): void {
  const before = silent.map((peer) => peer.quotas.get(quota.config.name)?.heldBudget);
  if (before.some((budget) => budget)) {
    for (const peer of silent) knownQuotaOf(peer, quota, now).heldBudget = undefined;
    updateHeld(agent, quota, now);
  }
  const agreed = agreement(agent, quota, now);
  silent.forEach((peer, i) => {
    const known = knownQuotaOf(peer, quota, now);
    known.heldBudget = withLate(agreed.get(peer.key), known.report.used, before[i]);
    setClaim(quota, known, undefined);
  });
}

/**
 * The budget of a peer that may have used the part of the free capacity that was held for it while it was late. It does not
 * know the demand that has come since, so that part stays its own.
 */
function withLate(
  budget: BudgetRange | undefined,
  used: Amounts,
  late: BudgetRange | undefined,
): BudgetRange | undefined {
  if (!budget || !late) return budget;
  return {
    from: budget.from.map((amount, i) => Math.max(amount, at(used, i) + at(late.from, i))),
    to: budget.to.map((amount, i) => Math.max(amount, at(late.to, i))),
  };
}

/** The record of a peer's part in a quota. A missing one is created. */
export function knownQuotaOf(peer: Peer, quota: Quota, now: number): PeerQuota {
  return peer.quotas.get(quota.config.name) ?? emptyPeerQuota(peer, quota, now);
}

/**
 * The record of a peer that has never reported on a quota. The peer has used nothing, but may start to while it is
 * silent.
 */
function emptyPeerQuota(peer: Peer, { config, limits }: Quota, now: number): PeerQuota {
  const nothing = zeros(limits.length);
  const report: QuotaReport = {
    name: config.name,
    windowMs: config.windowMs,
    dimensions: config.dimensions,
    limits: config.limits,
    spentTotal: nothing,
    refundedTotal: nothing,
    refundAgeMs: 0,
    used: nothing,
    bins: [],
    demand: nothing,
    claim: undefined,
    virtualTime: 0,
    level: undefined,
    joinSnapshot: undefined,
  };
  const known = {
    report,
    receivedReport: report,
    claim: undefined,
    reportedAt: now,
    nextMs: peer.nextMs,
    heldBudget: undefined,
    claimedAt: -Infinity,
    slots: 0,
    slotsUntil: -Infinity,
    counted: undefined,
  };
  peer.quotas.set(config.name, known);
  return known;
}

/** Updates the capacity that is held free for silent and late peers. */
export function updateHeld(agent: Agent, quota: Quota, now: number): void {
  const { name, windowMs } = quota.config;
  const held = zeros(quota.limits.length);
  for (const peer of agent.membership.peers.values()) {
    const known = peer.state === "silent" || peer.isLate ? peer.quotas.get(name) : undefined;
    if (!known?.heldBudget) continue;
    const silentMs = now - peer.receivedAt;
    const fraction = heldFraction(agent.config.isolation, silentMs, now - peer.endedAt, windowMs);
    const budget = budgetAfter(known.heldBudget, silentMs, windowMs);
    if (peer.isLate) {
      addTo(held, budget);
      continue;
    }
    if (quota.slots) {
      held[0] = at(held, 0) + Math.max(0, Math.ceil(at(budget, 0) * fraction - SLACK) - known.slots);
      continue;
    }
    // Reported usage is in the swarm's window already. Some of it expires before the next sweep.
    const counted = stillInWindow(known, now + sweepMsOf(agent));
    for (let i = 0; i < held.length; i++)
      held[i] = at(held, i) + Math.max(0, at(budget, i) * fraction - at(counted, i));
  }
  quota.isolation.heldForSilent = held;
}

/** The reported usage that is still in the window at `time`. All usage of a bin expires with the bin's start. */
function stillInWindow({ report: { used, bins, windowMs }, reportedAt }: PeerQuota, time: number): number[] {
  const sum = zeros(used.length);
  const whole = Math.floor(((windowMs - (time - reportedAt)) / windowMs) * BINS);
  for (let b = 0; b < Math.min(whole, bins.length); b++) addTo(sum, bins[b] as Amounts);
  return sum;
}

/** Time after which a peer is forgotten: delayed messages have arrived, and the capacity held for it is released. */
export function forgetAfterMs({ agenda }: Agent): number {
  return 2 * agenda.longestWindowMs + 60_000;
}
