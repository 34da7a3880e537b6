import { at } from "../engine/amounts.ts";
import { isCooling, type Level, levelAt, pausedUntil } from "../engine/level.ts";
import type { Pool } from "../engine/pool.ts";
import { type CapacityMessage, foreignOrigin } from "../wire/capacity.ts";
import { BadMessage } from "../wire/fields.ts";

/**
 * The level that an announcement of an agent without level registers stands for: one more cut, to the announced capacity.
 * Contains ages instead of times. Throws `BadMessage` when the announcement is not a cut, or belongs to the last one.
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
