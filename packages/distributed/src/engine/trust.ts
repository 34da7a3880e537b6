import type { AllocationReply } from "@hivepace/core";
import { type Agent, joiningUntil, type Peer } from "./agent.ts";
import { at } from "./amounts.ts";
import type { Climb } from "./climb.ts";
import { dimensionsOf, indicesOf, pick } from "./dimensions.ts";
import { type Level, LONGEST_RETRY_MS } from "./level.ts";
import type { Message, QuotaReport } from "./message.ts";
import type { Quota } from "./quota.ts";
import { heartbeatOf } from "./schedule.ts";
import { TRUST } from "./trust-rules.ts";

/** This many outdated messages in a row, after this many heartbeats, show that a forged message was ahead of them. */
const STALE_IN_A_ROW = 3;
const STALE_HEARTBEATS = 2;
/** A peer is suspected after this multiple of the time that it announced. */
const SUSPECTED_AFTER = 3.1;
/** Number of windows that an honest agent may wait before it probes. */
const SLOWEST_PROBE = 4;
/** Tolerance for rounding errors in sums, absolute and relative. */
const SLACK = 1e-6;

/** Returns the contradiction in a message; undefined when the message is consistent. */
export function contradictionOf(message: Message): string | undefined {
  return message.quotas.some(({ spentTotal, refundedTotal }) => isLess(spentTotal, refundedTotal))
    ? "more given back than used"
    : undefined;
}

/**
 * True when the totals of a report continue those of an earlier report. If totals decrease, the sender has restarted its
 * counts or one of the reports is forged; then all usage in the newer report counts as new.
 */
export function continues(report: QuotaReport, before: QuotaReport): boolean {
  const indices = indicesOf(dimensionsOf(report), dimensionsOf(before));
  return (
    !isLess(report.spentTotal, pick(before.spentTotal, indices)) &&
    !isLess(report.refundedTotal, pick(before.refundedTotal, indices))
  );
}

/** Returns the reason for ignoring a message with a new sequence number; undefined when the number is plausible. */
export function outrunning(agent: Agent, peer: Peer, seq: number, now: number): string | undefined {
  const { isSigned, tuning } = agent.config;
  if (peer.hasLeft) return "left";
  if (isSigned || peer.seq === 0) return undefined;
  const most = peer.seq + (now - peer.receivedAt) / tuning.gapMs + TRUST.seqSlack;
  return seq > most ? "sequence far ahead" : undefined;
}

/**
 * Returns the reason for ignoring a message with an outdated sequence number; undefined when the number ahead of it
 * must have been forged, because the agent continues below it.
 */
export function outdated(agent: Agent, peer: Peer, seq: number, now: number): string | undefined {
  const { isSigned, tuning } = agent.config;
  if (peer.hasLeft) return "left";
  if (isSigned || now - peer.receivedAt < STALE_HEARTBEATS * tuning.heartbeatMs) return "stale";
  peer.staleCount = seq > peer.staleSeq ? peer.staleCount + 1 : 1;
  peer.staleSeq = seq;
  return peer.staleCount < STALE_IN_A_ROW ? "stale" : undefined;
}

/**
 * The announced time until the next message. Unsigned, a claim or a limit holds for about a window without another one.
 */
export function boundedNextMs(agent: Agent, { nextMs }: Message, now: number): number {
  const { isSigned, tuning } = agent.config;
  if (isSigned) return nextMs;
  // Agents of large swarms send rarely, so this agent's own interval counts as well.
  const usualMs = Math.max(tuning.idleHeartbeatMs, 2 * heartbeatOf(agent, now));
  return Math.min(nextMs, Math.max(usualMs, agent.agenda.longestWindowMs / SUSPECTED_AFTER));
}

/** A virtual time that a peer reports, as far as the service of a swarm can have advanced it. */
export function boundedVirtualTime(agent: Agent, quota: Quota, reported: number, now: number): number {
  const { virtualTime, advance } = quota.claims;
  const { isSigned, tuning } = agent.config;
  if (isSigned || reported <= virtualTime.swarm) return reported;
  // A joining agent cannot know the virtual time of the swarm.
  if (now < joiningUntil(agent) + tuning.heartbeatMs) return reported;
  const { members, weights } = agent.membership;
  // An agent of mean weight that is served alone advances by this much in a window.
  const perWindow = members / weights;
  const grown = advance.left + (TRUST.mostAdvance * perWindow * (now - advance.at)) / quota.config.windowMs;
  advance.left = Math.min(TRUST.mostAdvance * perWindow, grown);
  advance.at = now;
  const taken = Math.min(reported - virtualTime.swarm, advance.left);
  advance.left -= taken;
  return virtualTime.swarm + taken;
}

/** A report within its bounds: it can neither raise a capacity above the configured one nor push it below the minimum. */
export function boundedReport(agent: Agent, quota: Quota, report: QuotaReport, isEstablished: boolean): QuotaReport {
  const { limits: configured, rules } = quota.config;
  const indices = indicesOf(dimensionsOf(report), dimensionsOf(quota.config));
  const least = pick(configured, indices).map((limit) => limit * rules.levelMin);
  const isLow = report.limits.some((limit, i) => limit < at(least, i));
  const level = report.level && boundedLevel(agent, quota, report.level, isEstablished);
  if (!isLow && level === report.level) return report;
  return { ...report, limits: report.limits.map((limit, i) => Math.max(limit, at(least, i))), level };
}

type Bounded = Pick<Level, "levelAtCut" | "levelMax" | "recoveryFactor" | "recoveryIntervalMs" | "pauseMs" | "climb">;

/**
 * A level of a peer within its bounds. A long pause counts in full from a peer that has sent messages for a window.
 * Another message may be a recording from before a restart of all agents: each extends the pause to one window from now
 * at most.
 */
export function boundedLevel<L extends Bounded & Pick<Level, "pausedAt" | "spread">>(
  agent: Agent,
  quota: Quota,
  level: L,
  isEstablished = false,
): L {
  const { windowMs } = quota.config;
  if (!agent.config.isSigned)
    return withBriefSpread(bounded(quota, level, Math.max(TRUST.unsignedPauseMs, windowMs), 1), windowMs, true);
  if (isEstablished) return bounded(quota, level, LONGEST_RETRY_MS);
  return withBriefSpread(bounded(quota, level, Math.min(LONGEST_RETRY_MS, level.pausedAt + windowMs)), windowMs, false);
}

/**
 * Bounds a learned sub-window of a message so that it ends one window from now; further messages extend it. An unsigned one
 * must not outrank the sub-windows that agents learn themselves, so its age is bounded, too.
 */
function withBriefSpread<L extends Pick<Level, "spread">>(level: L, windowMs: number, hasBoundedAge: boolean): L {
  const { spread } = level;
  if (!spread) return level;
  // Messages carry ages in place of times.
  const at = hasBoundedAge ? Math.min(spread.at, TRUST.unsignedSpreadWindows * windowMs) : spread.at;
  const stayMs = Math.min(spread.stayMs, at + windowMs);
  return at === spread.at && stayMs === spread.stayMs ? level : { ...level, spread: { ...spread, at, stayMs } };
}

/** True when a peer's own messages show that it has sent messages for a window, which only a long recording does. */
export function isEstablished({ firstUpMs }: Peer, upMs: number, windowMs: number): boolean {
  return upMs - firstUpMs >= windowMs;
}

function bounded<L extends Bounded>(
  { config }: Quota,
  level: L,
  longestPauseMs: number,
  slowest: number = TRUST.slowestRecovery,
): L {
  const { rules } = config;
  const within: Bounded = {
    levelAtCut: Math.min(Math.max(level.levelAtCut, rules.levelMin), rules.levelMax),
    levelMax: Math.min(level.levelMax, rules.levelMax),
    recoveryFactor: Math.max(level.recoveryFactor, 1 + (rules.recoveryFactor - 1) / slowest),
    recoveryIntervalMs: Math.min(level.recoveryIntervalMs, rules.recoveryIntervalMs * slowest),
    pauseMs: Math.min(level.pauseMs, longestPauseMs),
    climb: level.climb && boundedClimb(level.climb, Math.max(longestPauseMs, TRUST.unsignedPauseMs) + config.windowMs),
  };
  const isWithin = (Object.keys(within) as (keyof Bounded)[]).every((field) => within[field] === level[field]);
  return isWithin ? level : { ...level, ...within };
}

/** A climb that starts, and probes, after no more than `longestMs`. An honest one is the same object afterwards. */
function boundedClimb(climb: Climb, longestMs: number): Climb {
  const { holdMs, climbMs, probeMs, growMs } = climb;
  if (Math.max(holdMs, climbMs, growMs) <= longestMs && probeMs <= SLOWEST_PROBE * longestMs) return climb;
  return {
    ...climb,
    holdMs: Math.min(holdMs, longestMs),
    climbMs: Math.min(climbMs, longestMs),
    probeMs: Math.min(probeMs, SLOWEST_PROBE * longestMs),
    growMs: Math.min(growMs, longestMs),
  };
}

/**
 * A store's reply within its bounds. A pause counts in full, as in a signed message: the store grants nothing until its end,
 * and a shorter pause would make agents report waits that are too short.
 */
export function boundedReply(agent: Agent, reply: AllocationReply): AllocationReply {
  const quotas = reply.quotas.map((answer, i) => {
    const quota = agent.store?.asked[i];
    return quota && answer.level ? { ...answer, level: bounded(quota, answer.level, LONGEST_RETRY_MS) } : answer;
  });
  return { ...reply, quotas };
}

function isLess(amounts: readonly number[], others: readonly number[]): boolean {
  return amounts.some((amount, i) => amount < at(others, i) * (1 - SLACK) - SLACK);
}
