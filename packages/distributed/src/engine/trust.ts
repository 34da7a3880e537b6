import type { ShareReply } from "@hivepace/core";
import type { Agent } from "./agent.ts";
import { at } from "./amounts.ts";
import { dimensionsOf, indicesOf, pick } from "./dimensions.ts";
import { type Level, LONGEST_RETRY_MS } from "./level.ts";
import type { Message, PoolReport } from "./message.ts";
import type { Pool } from "./pool.ts";

/** The longest pause that an unsigned message can cause; one window, if that is longer. */
const LONGEST_UNSIGNED_PAUSE_MS = 60_000;
/** A recovery that another agent has configured is at most this many times slower than ours. */
const SLOWEST_RECOVERY = 10;
/** Tolerance for rounding errors in sums, absolute and relative. */
const SLACK = 1e-6;

/** Why a message contradicts itself; undefined when it does not. */
export function contradictionOf(message: Message): string | undefined {
  return message.pools.some(({ sent, back }) => isLess(sent, back)) ? "more given back than used" : undefined;
}

/**
 * True when the totals of a report continue those of an earlier report. Totals that decrease belong to a sender that has
 * started to count anew, or one of the two reports was forged: then all usage that the newer one reports counts as new.
 */
export function continues(report: PoolReport, before: PoolReport): boolean {
  const indices = indicesOf(dimensionsOf(report), dimensionsOf(before));
  return !isLess(report.sent, pick(before.sent, indices)) && !isLess(report.back, pick(before.back, indices));
}

/** A report within its bounds: it cannot raise a capacity above the configured one or push it below the minimum. */
export function boundedReport(agent: Agent, pool: Pool, report: PoolReport): PoolReport {
  const { limits: configured, rules } = pool.config;
  const indices = indicesOf(dimensionsOf(report), dimensionsOf(pool.config));
  const least = pick(configured, indices).map((limit) => limit * rules.least);
  const isLow = report.limits.some((limit, i) => limit < at(least, i));
  const level = report.level && boundedLevel(agent, pool, report.level);
  if (!isLow && level === report.level) return report;
  return { ...report, limits: report.limits.map((limit, i) => Math.max(limit, at(least, i))), level };
}

type Bounded = Pick<Level, "base" | "most" | "recoveryFactor" | "recoveryIntervalMs" | "pauseMs">;

/** A level of another agent within its bounds. */
export function boundedLevel<L extends Bounded>(agent: Agent, pool: Pool, level: L): L {
  return bounded(pool, level, agent.config.isSigned === true);
}

function bounded<L extends Bounded>({ config }: Pool, level: L, isSigned: boolean): L {
  const { rules, windowMs } = config;
  const longestPauseMs = isSigned ? LONGEST_RETRY_MS : Math.max(LONGEST_UNSIGNED_PAUSE_MS, windowMs);
  const within: Bounded = {
    base: Math.min(Math.max(level.base, rules.least), rules.most),
    most: Math.min(level.most, rules.most),
    recoveryFactor: Math.max(level.recoveryFactor, 1 + (rules.recoveryFactor - 1) / SLOWEST_RECOVERY),
    recoveryIntervalMs: Math.min(level.recoveryIntervalMs, rules.recoveryIntervalMs * SLOWEST_RECOVERY),
    pauseMs: Math.min(level.pauseMs, longestPauseMs),
  };
  const isWithin = (Object.keys(within) as (keyof Bounded)[]).every((field) => within[field] === level[field]);
  return isWithin ? level : { ...level, ...within };
}

/**
 * A store's answer within its bounds. A pause counts in full, as in a signed message: the store grants nothing until its end,
 * and agents that took it for shorter would show waits that are too short.
 */
export function boundedReply(agent: Agent, reply: ShareReply): ShareReply {
  const pools = reply.pools.map((answer, i) => {
    const pool = agent.store?.asked[i];
    return pool && answer.level ? { ...answer, level: bounded(pool, answer.level, true) } : answer;
  });
  return { ...reply, pools };
}

function isLess(amounts: readonly number[], others: readonly number[]): boolean {
  return amounts.some((amount, i) => amount < at(others, i) * (1 - SLACK) - SLACK);
}
