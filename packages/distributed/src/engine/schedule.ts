import { isHolding } from "./agenda.ts";
import { type Agent, joiningUntil } from "./agent.ts";
import { at, takeFrom } from "./amounts.ts";
import { LONGEST_NEXT_MS } from "./message.ts";
import type { Quota } from "./quota.ts";
import { isQuiet } from "./store-mode.ts";

/** Fraction of the window that a slow bus may take at most. A stranger that reports a slower one is not believed. */
const SLOWEST_PART = 1 / 12;

/** Heartbeats for which a peer's claim keeps this agent awake. */
const CLAIMED_HEARTBEATS = 1.5;

/**
 * Time after which all agents have received a message. Doubled where the limit is too small for a safety margin, and longer
 * where the bus is slower than that.
 */
export function settleMsOf({ config, link }: Agent, quota: Quota): number {
  const usualMs = config.tuning.settleMs * careOf(config.tuning.safetyMargin, quota);
  return Math.max(usualMs, Math.min(link.delay.swarmMs, quota.config.windowMs * SLOWEST_PART));
}

/** The part of the settle time that a slow bus adds to the usual one. */
export function lagMsOf(agent: Agent, quota: Quota): number {
  return Math.max(
    0,
    settleMsOf(agent, quota) - agent.config.tuning.settleMs * careOf(agent.config.tuning.safetyMargin, quota),
  );
}

/** Number of retransmissions of an urgent message: one more where a single call is larger than the safety margin. */
export function repeatsOf({ config }: Agent, quota: Quota): number {
  const { repeats, safetyMargin } = config.tuning;
  const isLarge = quota.usage.typicalCost.some((amount, i) => amount > at(quota.limits, i) * safetyMargin);
  return repeats * careOf(safetyMargin, quota) + (isLarge && repeats > 0 ? 1 : 0);
}

/** 2 where the safety margin is less than one unit, else 1. */
function careOf(safetyMargin: number, { limits }: Quota): number {
  for (let i = 0; i < limits.length; i++) if (at(limits, i) * safetyMargin < 1) return 2;
  return 1;
}

/** Schedules a report as soon as the gap between messages allows it, with retransmissions. In store mode only if urgent. */
export function reportBy(agent: Agent, quota: Quota, now: number, repeats: number, isUrgent = false): void {
  if (!isUrgent && isQuiet(agent, now)) return;
  const { reporting } = quota;
  const { gapMs } = agent.config.tuning;
  reportAt(agent, quota, Math.min(reporting.dueAt, Math.max(now, agent.link.publishedAt + gapMs)));
  reporting.repeats = Math.max(reporting.repeats, repeats);
}

/** Sets the time of the next report of a quota. */
export function reportAt({ agenda }: Agent, quota: Quota, time: number): void {
  quota.reporting.dueAt = time;
  agenda.reports.set(quota, time);
}

/** Notes a change that peers should know: the quota is reported at the next heartbeats. */
export function noteChange({ agenda }: Agent, quota: Quota, now: number): void {
  quota.reporting.changedAt = now;
  agenda.changedAt = now;
  if (quota.slots) agenda.holding.add(quota);
}

/** Time for which a refund is reported, so that peers that missed one report receive the next. */
export function refundedMsOf({ config }: Agent): number {
  return 4 * config.tuning.heartbeatMs;
}

/**
 * True while a change of any quota is recent, a claim is open or a slot is held: then every heartbeat reports it. Also
 * while a peer claims, because a claim is served in full only if all agents show that they can be reached.
 */
function isFresh({ agenda, config, link }: Agent, now: number): boolean {
  const { heartbeatMs } = config.tuning;
  if (now - agenda.changedAt < 3 * heartbeatMs || now - link.claimedAt < CLAIMED_HEARTBEATS * heartbeatMs) return true;
  return isHolding(agenda);
}

/** True while a quota is reported at every heartbeat: something about it has changed recently, or lasts. */
export function isChanging(agent: Agent, { claims, demand, isolation, slots, reporting }: Quota, now: number): boolean {
  if (claims.own || demand.next || isolation.budget || (slots && slots.starts.length > 0)) return true;
  return now - reporting.changedAt < 3 * agent.config.tuning.heartbeatMs;
}

/** True while there is anything to report, and for one window after that. */
export function isActive({ claims, isolation, backoff, reporting, config, slots }: Quota, now: number): boolean {
  const isClaimed = claims.own !== undefined || isolation.budget !== undefined || (slots && slots.starts.length > 0);
  return isClaimed || backoff.level.epoch > 0 || now - reporting.changedAt < 2 * config.windowMs;
}

/** Time at which the next message is due. */
export function publishAt(agent: Agent, now: number): number {
  const { publishedAt, promisedMs } = agent.link;
  // The announced interval is kept even when the present state would allow a longer one.
  const due = isQuiet(agent, now) ? Infinity : publishedAt + Math.min(promisedMs, heartbeatOf(agent, now));
  return Math.min(due, agent.availability.dueAt, agent.agenda.reports.next);
}

/** Heartbeat of an active agent: longer in large swarms, where every agent receives the messages of all. */
export function busyMsOf({ config, membership }: Agent): number {
  return Math.min(LONGEST_NEXT_MS, config.tuning.heartbeatMs * Math.max(1, membership.members / config.tuning.crowd));
}

/** The present interval between two messages of this agent. */
export function heartbeatOf(agent: Agent, now: number): number {
  const { heartbeatMs, idleHeartbeatMs } = agent.config.tuning;
  const { unansweredSince, unechoedSince } = agent.link;
  // An echo must arrive by the end of the join phase, and an unanswered message may be lost.
  if (now < joiningUntil(agent)) return heartbeatMs;
  if (now - Math.min(unansweredSince, unechoedSince) > heartbeatMs / 2) return heartbeatMs;
  const busyMs = busyMsOf(agent);
  return isFresh(agent, now) ? busyMs : Math.max(busyMs, idleHeartbeatMs);
}

/**
 * Marks reports as confirmed once all peers have received them: their usage no longer counts against this agent's part.
 */
export function confirmReported(agent: Agent, quota: Quota, now: number): void {
  const { reporting } = quota;
  const { inTransit } = reporting;
  for (;;) {
    const report = inTransit[0];
    if (!report || report.at + settleMsOf(agent, quota) > now) return;
    if (agent.config.echoes && report.seq > agent.link.echoedSeq) return;
    takeFrom(reporting.unconfirmed, report.unconfirmed);
    reporting.confirmedDemand = report.demand;
    inTransit.shift();
  }
}
