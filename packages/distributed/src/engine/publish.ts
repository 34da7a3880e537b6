import { touch } from "./agenda.ts";
import type { Agent } from "./agent.ts";
import { addTo, zeros } from "./amounts.ts";
import { availabilityReports } from "./availability/share.ts";
import { notePublished, reportedEchoMs } from "./delay.ts";
import { claimOfBudget } from "./isolation-budget.ts";
import { withAges } from "./level.ts";
import type { ClaimReport, Message, QuotaReport } from "./message.ts";
import { modeOf } from "./modes/mode-of.ts";
import type { OwnClaim, Quota } from "./quota.ts";
import { refresh } from "./refresh.ts";
import { confirmReported, heartbeatOf, isActive, isChanging, publishAt, refundedMsOf, reportAt } from "./schedule.ts";
import { slotFields } from "./slots.ts";
import { isQuiet } from "./store-mode.ts";
import { SNAPSHOT_BINS } from "./usage-window.ts";

/** Bounds the number of reports in transit. Normal operation needs a handful. */
const MOST_IN_TRANSIT = 256;
/** Number of unchanged quotas that fit into every heartbeat. */
const FEW = 8;

/** The message that is due now, if any. A goodbye is always due. */
export function publish(agent: Agent, now: number, bye = false): Message | undefined {
  if (!agent.config.hasBus || agent.hasLeft || (!bye && now < publishAt(agent, now))) return undefined;
  const { link } = agent;
  const { heartbeatMs } = agent.config.tuning;
  const nextMs = heartbeatOf(agent, now);
  const seq = ++link.seq;
  const isHeartbeat = now - link.publishedAt >= Math.min(link.promisedMs, nextMs) && !isQuiet(agent, now);
  const quotas: QuotaReport[] = [];
  const resting: Quota[] = [];
  // The goodbye contains everything that peers do not know yet.
  const isGoodbye = bye && !isQuiet(agent, now);
  // Urgent messages that follow each other quickly must not keep back what a heartbeat would report.
  const isOverdue = now - link.heartbeatAt >= Math.min(link.promisedMs, nextMs) && !isQuiet(agent, now);
  const isComplete = isGoodbye || isOverdue;
  if (isComplete) link.heartbeatAt = now;
  for (const quota of isComplete ? agent.quotas.values() : agent.agenda.reports.takeDue(now)) {
    const { dueAt, reportedAt } = quota.reporting;
    const isTime = isGoodbye || (isOverdue && now - reportedAt >= heartbeatMs / 2);
    if (dueAt <= now) quotas.push(report(agent, quota, seq, now));
    else if (!isTime || !isActive(quota, now)) continue;
    else if (isGoodbye || isChanging(agent, quota, now)) quotas.push(report(agent, quota, seq, now));
    else resting.push(quota);
  }
  for (const quota of nextOf(agent, resting, nextMs)) quotas.push(report(agent, quota, seq, now));
  const availability = availabilityReports(agent, isHeartbeat, now);
  link.publishedAt = now;
  link.promisedMs = nextMs;
  if (link.unansweredSince === Infinity) link.unansweredSince = now;
  if (link.unechoedSince === Infinity) link.unechoedSince = now;
  notePublished(agent, now);
  const echoMs = reportedEchoMs(agent);
  const { id, incarnation, weight } = agent.config;
  return {
    id,
    incarnation,
    seq,
    upMs: now - agent.startedAt,
    nextMs,
    weight,
    members: agent.membership.members,
    bye,
    ...(agent.store?.isStore ? { store: true } : {}),
    ...(agent.config.observes ? { observes: true } : {}),
    ...(echoMs === undefined ? {} : { echoMs }),
    quotas,
    ...(availability ? { availability } : {}),
  };
}

/**
 * The quotas to report of those that have not changed for some heartbeats. A few are always reported. Many take turns, so
 * that each is reported as often as by an idle agent.
 */
function nextOf(agent: Agent, resting: readonly Quota[], nextMs: number): readonly Quota[] {
  const count = Math.ceil((resting.length * nextMs) / Math.max(nextMs, agent.config.tuning.idleHeartbeatMs));
  if (resting.length <= FEW) return resting;
  return [...resting].sort((a, b) => a.reporting.reportedAt - b.reporting.reportedAt).slice(0, Math.max(FEW, count));
}

function report(agent: Agent, quota: Quota, seq: number, now: number): QuotaReport {
  const { config, usage, demand, claims, backoff, reporting } = quota;
  refresh(agent, quota, now);
  touch(agent.agenda, quota);
  markReported(agent, quota, seq, now);
  const mode = modeOf(agent, quota, now);
  mode.enter(agent, quota, now);
  const isWelcoming = mode.name === "member" && now < reporting.welcomeUntil;
  return {
    name: config.name,
    windowMs: config.windowMs,
    dimensions: config.dimensions,
    limits: config.limits,
    spentTotal: [...usage.spentTotal],
    refundedTotal: [...usage.refundedTotal],
    refundAgeMs: usage.refundAges.oldestMs(now, refundedMsOf(agent)),
    refunds: usage.unreportedRefunds.take(now),
    used: [...usage.own.sum],
    bins: usage.own.bins(now),
    demand: demand.all,
    ...(demand.isTried ? { tried: true } : {}),
    claim:
      mode.name === "isolated" && !agent.removed.has(config.name)
        ? claimOfBudget(agent, quota, now)
        : claims.own && claimReport(quota, claims.own, now),
    virtualTime: claims.virtualTime.swarm,
    // A level that has fully recovered is reported too: the next cut of a newcomer must supersede it.
    level: backoff.level.epoch === 0 ? undefined : withAges(backoff.level, now),
    joinSnapshot: isWelcoming && !quota.slots ? usage.swarm.bins(now, SNAPSHOT_BINS) : undefined,
    ...slotFields(agent, quota, isWelcoming, now),
  };
}

/** Records that the quota is reported in message `seq`, and schedules the next retransmission. */
function markReported(agent: Agent, quota: Quota, seq: number, now: number): void {
  const { config, limits, claims, demand, reporting } = quota;
  reportAt(agent, quota, reporting.repeats > 0 ? now + agent.config.tuning.repeatMs : Infinity);
  reporting.repeats = Math.max(0, reporting.repeats - 1);
  reporting.reportedAt = now;
  confirmReported(agent, quota, now);
  const { inTransit, unreported } = reporting;
  // While reports remain undelivered for a long time, the latest report replaces the one before.
  const last = inTransit.length < MOST_IN_TRANSIT ? undefined : inTransit.pop();
  if (last) addTo(unreported, last.unconfirmed);
  inTransit.push({ seq, at: now, unconfirmed: unreported, demand: demand.all });
  reporting.unreported = zeros(limits.length);
  reporting.reportedLimits = config.limits;
  if (quota.slots) quota.slots.freed = 0;
  const { own } = claims;
  if (own && own.seq === Infinity) {
    own.seq = seq;
    own.publishedAt = now;
  }
}

function claimReport({ demand }: Quota, { amounts, virtualTime, tie }: OwnClaim, now: number): ClaimReport {
  return {
    amounts: [...amounts],
    next: demand.next ?? amounts,
    virtualTime,
    tie,
    waitedMs: now - demand.waitingSince,
  };
}
