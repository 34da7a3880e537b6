import fc from "fast-check";
import { expect, test } from "vitest";
import type { Climb } from "./climb.ts";
import {
  FULL,
  isCooling,
  isLater,
  type Level,
  levelAt,
  merge,
  nextStepAt,
  pausedUntil,
  refuse,
  withLongerPause,
} from "./level.ts";
import { rules } from "./test-agents.ts";

const few = (max: number) => fc.integer({ min: 0, max });
const climb: Climb = { good: 0.5, holdMs: 500, climbMs: 5_000, probeMs: 11_500, growMs: 9_000, failures: 0 };
/** Levels from few values, so that ties of every kind are frequent. */
const levels: fc.Arbitrary<Level> = fc.record({
  epoch: few(2),
  pauseCount: few(2),
  levelAtCut: fc.constantFrom(0.25, 0.5, 1),
  recoveryFactor: fc.constantFrom(1.1, 1.2),
  recoveryIntervalMs: fc.constantFrom(30_000, Infinity),
  levelMax: fc.constantFrom(1, 2),
  cutAt: few(3),
  pausedAt: few(3),
  pauseMs: few(2),
  origin: fc.constantFrom("a", "b"),
  reason: fc.constantFrom("429", "529"),
  climb: fc.constantFrom(undefined, climb, { ...climb, good: 0.6 }, { ...climb, failures: 1 }),
});

test("merging is commutative, associative and idempotent", () => {
  fc.assert(
    fc.property(levels, levels, levels, (a, b, c) => {
      expect(merge(a, b)).toEqual(merge(b, a));
      expect(merge(merge(a, b), c)).toEqual(merge(a, merge(b, c)));
      expect(merge(a, a)).toBe(a);
      expect(merge(merge(a, b), b)).toEqual(merge(a, b));
    }),
    { numRuns: 3_000 },
  );
});

test("a merge never goes back, and one of two different levels is the later one", () => {
  fc.assert(
    fc.property(levels, levels, (a, b) => {
      expect(isLater(a, merge(a, b))).toBe(false);
      expect(isLater(a, b) && isLater(b, a)).toBe(false);
      const { cutAt: _, pausedAt: __, ...said } = a;
      const { cutAt: ___, pausedAt: ____, ...other } = b;
      expect(isLater(a, b) || isLater(b, a)).toBe(JSON.stringify(said) !== JSON.stringify(other));
    }),
    { numRuns: 3_000 },
  );
});

test("of two equal levels the earlier start counts: a slow message does not delay recovery", () => {
  const ours: Level = { ...FULL, epoch: 1, levelAtCut: 0.5, cutAt: 100, pausedAt: 100 };
  expect(merge(ours, { ...ours, cutAt: 90, pausedAt: 110 })).toMatchObject({ cutAt: 90, pausedAt: 100 });
});

const cut = refuse(FULL, { sentAt: 0, reason: "429" }, -Infinity, rules, 1_000, "a");

test.each([
  [0, 0.5],
  [29_999, 0.5],
  [30_000, 0.55],
  [60_000, 0.605],
  [7 * 30_000, 0.5 * 1.1 ** 7],
  [8 * 30_000, 1],
  [1e9, 1],
])("%i ms after a cut the level is %d", (age, level) => {
  expect(levelAt(cut, 1_000 + age)).toBeCloseTo(level, 12);
});

test("the next step is the moment at which the level rises; a full level has none", () => {
  expect(nextStepAt(FULL, 5)).toBe(Infinity);
  expect(nextStepAt(cut, 1_000)).toBe(31_000);
  expect(nextStepAt(cut, 31_000)).toBe(61_000);
  expect(nextStepAt(cut, 1_000 + 8 * 30_000)).toBe(Infinity);
});

const refusal = (level: Level, now: number, details: object = {}, knownAt = -Infinity) =>
  refuse(level, { sentAt: now, reason: "429", ...details }, knownAt, rules, now, "b");

test("the first refusal halves and pauses for half a second", () => {
  expect(cut).toMatchObject({ epoch: 1, pauseCount: 0, levelAtCut: 0.5, cutAt: 1_000, pauseMs: 500, origin: "a" });
  expect(pausedUntil(cut)).toBe(1_500);
});

test("a refusal of a call sent before the present level was known changes nothing", () => {
  expect(refusal(cut, 2_000, { sentAt: 1_000 }, 1_000)).toBe(cut);
  expect(refusal(cut, 2_000, { sentAt: 1_001 }, 1_000)).not.toBe(cut);
});

test("within the cooldown refusals pause longer and longer and do not cut", () => {
  let level = cut;
  for (const [round, pauseMs] of [1_000, 2_000, 4_000, 8_000, 10_000, 10_000].entries()) {
    level = refusal(level, 2_000 + round * 5_000);
    expect(level).toMatchObject({ epoch: 1, pauseCount: round + 1, levelAtCut: 0.5, cutAt: 1_000, pauseMs });
  }
});

test("after the cooldown the first refusal undoes a step, and further ones halve", () => {
  const probe = refusal(cut, 1_000 + 90_000);
  expect(probe).toMatchObject({ epoch: 2, pauseCount: 0 });
  expect(probe.levelAtCut).toBeCloseTo((0.5 * 1.1 ** 3) / 1.21, 12);
  const troubled = refusal(refusal(cut, 2_000), 1_000 + 90_000);
  expect(troubled.levelAtCut).toBeCloseTo((0.5 * 1.1 ** 3) / 2, 12);
});

test("any number of cuts leaves the minimum", () => {
  let level = FULL;
  for (let i = 0; i < 50; i++) {
    level = refusal(level, i * 61_000 + 1);
    level = refusal(level, i * 61_000 + 2);
    expect(levelAt(level, i * 61_000 + 2)).toBeGreaterThanOrEqual(rules.levelMin);
  }
  expect(level.levelAtCut).toBe(rules.levelMin);
});

test("a provider in trouble pauses and cuts nothing", () => {
  const paused = refusal(FULL, 1_000, { isOverload: true });
  expect(paused).toMatchObject({ epoch: 1, pauseCount: 1, levelAtCut: 1, pauseMs: 1_000 });
  expect(levelAt(paused, 1_000)).toBe(1);
  // The pause was no cut, so the next refusal is the first cut.
  expect(refusal(paused, 5_000)).toMatchObject({ epoch: 2, levelAtCut: 0.5 });
});

test.each([
  [1_000, 1_000],
  [60_000, 60_000],
  [3_600_000, 3_600_000],
  [1e15, 86_400_000],
  [Infinity, 86_400_000],
  [0, 500],
  [-5, 500],
  [Number.NaN, 500],
  [undefined, 500],
])("asked to wait for %s ms, all wait for %i", (retryAfterMs, pauseMs) => {
  expect(refusal(FULL, 1_000, { retryAfterMs }).pauseMs).toBe(pauseMs);
});

test("the next step is always in the future and due at its time, for any fractions of the clock", () => {
  const time = fc.double({ min: 0, max: 1e8, noNaN: true });
  fc.assert(
    fc.property(time, fc.nat({ max: 5 }), fc.constantFrom(700, 5_000, 30_000), (cutAt, steps, recoveryIntervalMs) => {
      const rules = { epoch: 1, levelAtCut: 0.1, recoveryFactor: 1.1, recoveryIntervalMs, levelMax: 1 };
      const level: Level = { ...FULL, ...rules, cutAt };
      // The boundary case: `now` is exactly when the last step was due.
      const now = cutAt + steps * recoveryIntervalMs;
      const next = nextStepAt(level, now);
      expect(next).toBeGreaterThan(now);
      expect(levelAt(level, next)).toBeGreaterThan(levelAt(level, now));
    }),
    { numRuns: 5_000 },
  );
});

test("of two levels of one epoch the later one counts, with the longer pause if that ends later", () => {
  const long: Level = { ...cut, pausedAt: 1_000, pauseMs: 30_000 };
  const later: Level = { ...cut, pauseCount: 1, pausedAt: 2_000, pauseMs: 1_000, origin: "b" };
  expect(withLongerPause(later, long)).toEqual({ ...later, pausedAt: 1_000, pauseMs: 30_000 });
  // A pause that has ended is not revived.
  expect(withLongerPause({ ...later, pausedAt: 40_000 }, long).pauseMs).toBe(1_000);
  // A later epoch ended the pauses of the previous one, or already includes them.
  expect(withLongerPause({ ...later, epoch: 2 }, long).pauseMs).toBe(1_000);
});

test("a cut of a level above the configured capacity is a cut, also down to exactly that capacity", () => {
  const twice: Level = { ...FULL, epoch: 1, levelAtCut: 2, levelMax: 2, cutAt: -1e9 };
  const halved = refuse(twice, { sentAt: 1_000, reason: "429" }, 0, { ...rules, levelMax: 2 }, 1_000, "a");
  expect(halved.levelAtCut).toBeCloseTo(1, 9);
  expect(isCooling(halved, rules, 1_001)).toBe(true);
  // With a minimum of 1 the result is exactly 1, because peers raise anything lower to the minimum.
  const least = refuse(twice, { sentAt: 1_000, reason: "429" }, 0, { ...rules, levelMax: 2, levelMin: 1 }, 1_000, "a");
  expect(least.levelAtCut).toBe(1);
});
