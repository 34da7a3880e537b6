/**
 * The recovery from a measured cut, as in CUBIC congestion control. The level holds while the window empties to it and the
 * swarm pauses, climbs back to the last good level within seconds, stays there, and then probes beyond it: slowly at
 * first, and ever faster while nothing is refused.
 *
 * ```text
 *   level                                            ╱  grow
 *   good ┤             ┌────────────────────────────╱
 *   cut  ┤ ┌──────────╱
 *        └─┴──────────┴─────────────────────────────┴──► age of the cut
 *            holdMs    climb          until probeMs
 * ```
 */
export interface Climb {
  /** The level that was good before the refusal. At least the level at the cut. */
  readonly good: number;
  /** Age of the cut at which the level starts to climb. */
  readonly holdMs: number;
  readonly climbMs: number;
  /** Age of the cut at which the level starts to probe beyond `good`. */
  readonly probeMs: number;
  /** Time in which a probe doubles the level. */
  readonly growMs: number;
  /** Consecutive cuts after each of which the first calls were refused again. */
  readonly failures: number;
}

/** Number of steps per `growMs`: the level counts as changed at each step. */
const STEPS = 40;

/** The level at this age of the cut, without an upper bound. */
export function climbedTo(levelAtCut: number, climb: Climb, ageMs: number): number {
  const { good, holdMs, climbMs, probeMs, growMs } = climb;
  if (ageMs <= holdMs) return levelAtCut;
  if (ageMs <= probeMs) return levelAtCut + (good - levelAtCut) * Math.min(1, (ageMs - holdMs) / climbMs);
  return good * (1 + ((ageMs - probeMs) / growMs) ** 3);
}

/** The age of the cut at which the level is next higher than at this age. */
export function nextClimbMs({ holdMs, climbMs, probeMs, growMs }: Climb, ageMs: number): number {
  const stepMs = growMs / STEPS;
  if (ageMs < holdMs) return Math.min(probeMs, holdMs) + stepMs;
  if (ageMs >= holdMs + climbMs && ageMs < probeMs) return probeMs + stepMs;
  return ageMs + stepMs;
}

/** A total order of climbs, for registers that are equal in all else: an agent that knows a climb wins. */
export function compareClimbs(a: Climb | undefined, b: Climb | undefined): number {
  if (!a || !b) return (a ? 1 : 0) - (b ? 1 : 0);
  return (
    b.good - a.good ||
    a.holdMs - b.holdMs ||
    a.probeMs - b.probeMs ||
    a.growMs - b.growMs ||
    a.climbMs - b.climbMs ||
    a.failures - b.failures
  );
}
