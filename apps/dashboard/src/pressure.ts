import type { LimitFrame, ResourceFrame } from "./wire.ts";

/** The condition of an endpoint or a key, from the worst to the best. */
const conditions = ["paused", "queueing", "reduced", "full", "fine"] as const;
export type Condition = (typeof conditions)[number];

const FULL = 0.9;

/** Usage as a fraction of the current limit; undefined without a limit. */
export function usedPart({ used, total }: Pick<LimitFrame, "used" | "total">): number | undefined {
  if (total === null) return undefined;
  return total > 0 ? used / total : 1;
}

/** The index of the binding dimension: the one with the most usage and queue relative to its current limit. */
export function bindingLimit(limits: readonly LimitFrame[]): number {
  const pressures = limits.map(({ used, waiting, total }) => (total === null ? -1 : (used + waiting) / (total || 1)));
  const most = Math.max(...pressures);
  return Math.max(0, pressures.indexOf(most));
}

export function conditionOf({ limits, level, pausedForMs }: Omit<ResourceFrame, "agents">): Condition {
  if (pausedForMs > 0) return "paused";
  if (limits.some(({ waiting }) => waiting > 0)) return "queueing";
  if (level < 1) return "reduced";
  return limits.some((limit) => (usedPart(limit) ?? 0) >= FULL) ? "full" : "fine";
}

/** Usage rounded to tenths, so that rows of nearly equal usage do not swap places twice a second. */
const tenthsOf = ({ limits }: ResourceFrame): number => {
  const binding = limits[bindingLimit(limits)];
  return binding === undefined ? 0 : Math.round(10 * (usedPart(binding) ?? 0));
};

/** Orders resources, the worst first. */
export function byPressure(a: ResourceFrame, b: ResourceFrame): number {
  const condition = conditions.indexOf(conditionOf(a)) - conditions.indexOf(conditionOf(b));
  if (condition !== 0) return condition;
  return tenthsOf(b) - tenthsOf(a) || a.level - b.level || (a.resource < b.resource ? -1 : 1);
}
