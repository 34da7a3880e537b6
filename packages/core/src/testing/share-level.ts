import type { ShareLevel } from "../share-store.ts";
import { at, type ShareState, type StoredLevel } from "./share-state.ts";

/** A limit that nobody has named for so many heartbeats may rise again. */
const FORGET_LIMITS = 5.5;

/** The later word counts; of two that say the same, the one that began earlier. */
export function hearLevel(state: ShareState, heard: ShareLevel | undefined, now: number): void {
  if (!heard) return;
  const { cutAgoMs, pausedAgoMs, ...rest } = heard;
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
    b.base - a.base ||
    a.round - b.round ||
    a.pauseMs - b.pauseMs ||
    (a.tie === b.tie ? 0 : a.tie > b.tie ? 1 : -1)
  );
}

export function tellLevel({ level }: ShareState, now: number): ShareLevel | undefined {
  if (!level) return undefined;
  const { cutAt, pausedAt, ...rest } = level;
  return { ...rest, cutAgoMs: now - cutAt, pausedAgoMs: now - pausedAt };
}

export function isPaused({ level }: ShareState, now: number): boolean {
  return level !== undefined && now < level.pausedAt + level.pauseMs;
}

/** The smallest limits that anyone named of late. */
export function hearLimits(state: ShareState, limits: readonly number[], heartbeatMs: number, now: number): void {
  const isOld = now - state.limitsAt > FORGET_LIMITS * heartbeatMs;
  const isLess = limits.some((limit, i) => limit < at(state.limits, i));
  if (isOld) state.limits = [...limits];
  else if (isLess) state.limits = limits.map((limit, i) => Math.min(limit, at(state.limits, i)));
  if (isOld || isLess || limits.every((limit, i) => limit === at(state.limits, i))) state.limitsAt = now;
}

/** What all may use in a window now. */
export function capacityOf(state: ShareState, headroom: number, least: number, now: number): number[] {
  const { level, members } = state;
  const part = level
    ? Math.min(level.most, level.base * level.recoveryFactor ** steps(now - level.cutAt, level.recoveryIntervalMs))
    : 1;
  return state.limits.map((limit) => {
    const spared = members > 1 ? Math.floor(limit * headroom) : 0;
    return Math.max((limit - spared) * part, limit * least);
  });
}

function steps(ageMs: number, intervalMs: number): number {
  return Math.floor(Math.max(0, ageMs) / intervalMs);
}
