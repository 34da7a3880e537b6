import type { ReportedLevel } from "../../allocator.ts";
import { at, type QuotaState, type StoredLevel } from "./quota-state.ts";

/** Number of heartbeats after which a limit that no agent reports any more may rise again. */
const FORGET_LIMITS = 5.5;

/** Applies a reported level: the later level wins, and of two equal ones the earlier start. */
export function receiveLevel(state: QuotaState, received: ReportedLevel | undefined, now: number): void {
  if (!received) return;
  const { cutAgoMs, pausedAgoMs, ...rest } = received;
  const level: StoredLevel = { ...rest, cutAt: now - cutAgoMs, pausedAt: now - pausedAgoMs };
  const known = state.level;
  const order = known ? compare(level, known) : 1;
  if (order > 0) state.level = level;
  else if (order === 0 && known)
    state.level = {
      ...known,
      cutAt: Math.min(known.cutAt, level.cutAt),
      pausedAt: Math.min(known.pausedAt, level.pausedAt),
    };
}

function compare(a: StoredLevel, b: StoredLevel): number {
  return (
    a.epoch - b.epoch ||
    b.levelAtCut - a.levelAtCut ||
    a.pauseCount - b.pauseCount ||
    a.pauseMs - b.pauseMs ||
    // Compared by value, because as text "9" would win over "10".
    Number.parseInt(a.tie, 16) - Number.parseInt(b.tie, 16)
  );
}

export function reportedLevel({ level }: QuotaState, now: number): ReportedLevel | undefined {
  if (!level) return undefined;
  const { cutAt, pausedAt, ...rest } = level;
  return { ...rest, cutAgoMs: now - cutAt, pausedAgoMs: now - pausedAt };
}

export function isPaused({ level }: QuotaState, now: number): boolean {
  return level !== undefined && now < level.pausedAt + level.pauseMs;
}

/** Updates the smallest limits that agents have reported recently. */
export function receiveLimits(state: QuotaState, limits: readonly number[], heartbeatMs: number, now: number): void {
  const isOld = now - state.limitsAt > FORGET_LIMITS * heartbeatMs;
  const isLess = limits.some((limit, i) => limit < at(state.limits, i));
  if (isOld) state.limits = [...limits];
  else if (isLess) state.limits = limits.map((limit, i) => Math.min(limit, at(state.limits, i)));
  if (isOld || isLess || limits.every((limit, i) => limit === at(state.limits, i))) state.limitsAt = now;
}

/** Returns the capacity that all agents together may use in a window now. */
export function capacityOf(state: QuotaState, safetyMargin: number, minLevel: number, now: number): number[] {
  const { level, members } = state;
  const part = level
    ? Math.min(
        level.levelMax,
        level.levelAtCut * level.recoveryFactor ** steps(now - level.cutAt, level.recoveryIntervalMs),
      )
    : 1;
  return state.limits.map((limit) => {
    const spared = members > 1 ? Math.floor(limit * safetyMargin) : 0;
    return Math.max((limit - spared) * part, limit * minLevel);
  });
}

function steps(ageMs: number, intervalMs: number): number {
  return Math.floor(Math.max(0, ageMs) / intervalMs);
}
