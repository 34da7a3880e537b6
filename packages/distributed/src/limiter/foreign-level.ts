import { at, isCooling, type Level, levelAt, pausedUntil, type Quota } from "../engine/index.ts";
import { type CapacityMessage, foreignOrigin } from "../wire/capacity.ts";
import { BadMessage } from "../wire/fields.ts";

/**
 * The level for an announcement of an agent without level registers: one more cut, to the announced capacity. Contains
 * ages instead of times. Throws `BadMessage` when the announcement is not a cut, or belongs to the last one.
 */
export function foreignLevel(quota: Quota, message: CapacityMessage, now: number): Level {
  const { rules, limits, main = 0 } = quota.config;
  const { level } = quota.backoff;
  const base = Math.max(rules.levelMin, message.newCapacity / at(limits, main));
  if (base >= levelAt(level, now)) throw new BadMessage("no lower capacity");
  if (isCooling(level, rules, now)) throw new BadMessage("within the cooldown");
  const { recoveryFactor, recoveryIntervalMs, levelMax } = rules;
  return {
    epoch: level.epoch + 1,
    pauseCount: 0,
    levelAtCut: base,
    recoveryFactor,
    recoveryIntervalMs,
    levelMax: levelMax,
    cutAt: 0,
    pausedAt: 0,
    // A foreign announcement starts no pause and must not end a running one.
    pauseMs: Math.max(0, pausedUntil(level) - now),
    origin: foreignOrigin(message.agentId, message.timestamp),
    reason: message.reason,
  };
}
