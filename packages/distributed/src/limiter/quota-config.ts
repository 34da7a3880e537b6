import { InvalidCapacityError, InvalidConfigError, InvalidWindowError } from "@hivepace/core";
import { AMOUNT, isAmount } from "@hivepace/core/internal";
import type { LevelRules, QuotaConfig } from "../engine/index.ts";
import { LONGEST_NAME } from "../wire/subjects.ts";
import type { Settings } from "./config.ts";
import { type ShorterLimit, subWindowsOf } from "./window-limits.ts";

/** The highest level without `maxRecovery`, as a multiple of the configured capacity. */
const MOST_RECOVERY = 2;

/** The engine's configuration of a limit. Throws for an invalid limit. */
export function quotaConfig(
  settings: Settings,
  name: string,
  capacity: number,
  windowMs: number,
  burst: number | undefined,
  shorter?: readonly ShorterLimit[] | undefined,
): QuotaConfig {
  const isName = typeof name === "string" && name.length >= 1 && name.length <= LONGEST_NAME;
  if (!isName) throw new InvalidConfigError("resource", `a string of 1 to ${LONGEST_NAME} characters`, name);
  if (!isAmount(capacity)) throw new InvalidCapacityError("capacity", AMOUNT, capacity);
  if (!isAmount(windowMs)) throw new InvalidWindowError("windowMs", AMOUNT, windowMs);
  const held = wholeLimit(capacity, windowMs);
  const least = Math.min(1, settings.minCapacity / held.limit);
  const rules = rulesOf(settings, held.windowMs, least);
  return {
    name,
    limits: [held.limit],
    windowMs: held.windowMs,
    subWindows: subWindowsOf(held, burst, shorter),
    rules,
  };
}

/** A limit below 1 becomes 1 in a longer window, because it would never allow a call. */
export function wholeLimit(limit: number, windowMs: number): { readonly limit: number; readonly windowMs: number } {
  return limit < 1 ? { limit: 1, windowMs: Math.ceil(windowMs / limit - 1e-6) } : { limit, windowMs };
}

/** The rules of cuts and recovery of a limit. */
export function rulesOf(settings: Settings, windowMs: number, least: number): LevelRules {
  const { reduceFactor, recoveryFactor, recoveryIntervalMs, maxRecovery, cooldownMs = windowMs } = settings;
  const most = maxRecovery ? 1 : MOST_RECOVERY;
  const isMeasured = settings.recovery === "measured";
  return {
    reduceFactor,
    recoveryFactor,
    recoveryIntervalMs,
    levelMax: most,
    cooldownMs,
    levelMin: least,
    isMeasured,
    learnsWindows: isMeasured && settings.learnWindows,
  };
}
