import type { ShareReply } from "@hivepace/core";
import type { Agent } from "../engine/agent.ts";
import { at } from "../engine/amounts.ts";
import { dimensionsOf, indicesOf, pick } from "../engine/dimensions.ts";
import { isCooling, type Level, levelAt, pausedUntil } from "../engine/level.ts";
import type { Message, PoolReport } from "../engine/message.ts";
import type { Pool } from "../engine/pool.ts";
import { type CapacityMessage, foreignOrigin } from "../wire/capacity.ts";
import { BadMessage } from "../wire/fields.ts";

/** Whoever is not known to be one of us cannot make all pause for longer than this, or one window. */
const LONGEST_UNSIGNED_PAUSE_MS = 60_000;
/** A recovery that was set elsewhere is no slower than this many times ours. */
const SLOWEST_RECOVERY = 10;
/** Tolerance for rounding errors in sums, absolute and relative. */
const SLACK = 1e-6;

/**
 * A message as the engine may hear it: nothing in it can raise a capacity above the configured one or push it below the
 * least. Throws `BadMessage` when it contradicts what the same agent has said before.
 */
export function bounded(agent: Agent, message: Message, isSigned: boolean): Message {
  const known = agent.peers.get(`${message.id} ${message.life}`);
  const pools = message.pools.map((report) => {
    const pool = agent.pools.get(report.name);
    // The engine counts what it does not know.
    if (!pool) return report;
    const before = known?.pools.get(report.name)?.heard;
    if (before && known && message.seq > known.seq) {
      const indices = indicesOf(dimensionsOf(report), dimensionsOf(before));
      if (isLess(report.sent, pick(before.sent, indices)) || isLess(report.back, pick(before.back, indices)))
        throw new BadMessage("counts went back");
    }
    if (isLess(report.sent, report.back)) throw new BadMessage("more given back than used");
    return boundedReport(pool, report, isSigned);
  });
  return { ...message, pools };
}

function boundedReport(pool: Pool, report: PoolReport, isSigned: boolean): PoolReport {
  const configured = pick(pool.config.limits, indicesOf(dimensionsOf(report), dimensionsOf(pool.config)));
  const limits = report.limits.map((limit, i) => Math.max(limit, at(configured, i) * pool.config.rules.least));
  return { ...report, limits, level: report.level && boundedLevel(pool, report.level, isSigned) };
}

type Bounded = Pick<Level, "base" | "most" | "recoveryFactor" | "recoveryIntervalMs" | "pauseMs">;

export function boundedLevel<L extends Bounded>({ config }: Pool, level: L, isSigned: boolean): L {
  const { least, most, recoveryFactor, recoveryIntervalMs } = config.rules;
  return {
    ...level,
    base: Math.min(Math.max(level.base, least), most),
    most: Math.min(level.most, most),
    recoveryFactor: Math.max(level.recoveryFactor, 1 + (recoveryFactor - 1) / SLOWEST_RECOVERY),
    recoveryIntervalMs: Math.min(level.recoveryIntervalMs, recoveryIntervalMs * SLOWEST_RECOVERY),
    pauseMs: isSigned ? level.pauseMs : Math.min(level.pauseMs, Math.max(LONGEST_UNSIGNED_PAUSE_MS, config.windowMs)),
  };
}

/** A store's answer as the engine may have it. Nobody signs what is there: its levels are those of anyone. */
export function boundedReply(agent: Agent, reply: ShareReply): ShareReply {
  const pools = reply.pools.map((answer, i) => {
    const pool = agent.store?.asked[i];
    return pool && answer.level ? { ...answer, level: boundedLevel(pool, answer.level, false) } : answer;
  });
  return { ...reply, pools };
}

/**
 * What an agent means that knows no registers: one more cut, to the number that it gives. Throws `BadMessage` when that is
 * no cut, or belongs to the last one. With ages in the place of times.
 */
export function foreignLevel(pool: Pool, message: CapacityMessage, now: number): Level {
  const { rules, limits, main = 0 } = pool.config;
  const { level } = pool;
  const base = Math.max(rules.least, message.newCapacity / at(limits, main));
  if (base >= levelAt(level, now)) throw new BadMessage("no lower capacity");
  if (isCooling(level, rules, now)) throw new BadMessage("within the cooldown");
  const { recoveryFactor, recoveryIntervalMs, most } = rules;
  return {
    epoch: level.epoch + 1,
    round: 0,
    base,
    recoveryFactor,
    recoveryIntervalMs,
    most,
    cutAt: 0,
    pausedAt: 0,
    // A foreign announcement starts no pause and must not end a running one.
    pauseMs: Math.max(0, pausedUntil(level) - now),
    origin: foreignOrigin(message.agentId, message.timestamp),
    reason: message.reason,
  };
}

function isLess(amounts: readonly number[], others: readonly number[]): boolean {
  return amounts.some((amount, i) => amount < at(others, i) * (1 - SLACK) - SLACK);
}
