import { expect, test } from "vitest";
import { type Climb, climbedTo, compareClimbs, nextClimbMs } from "./climb.ts";

const climb: Climb = { good: 0.9, holdMs: 2_000, climbMs: 5_000, probeMs: 13_000, growMs: 9_000, failures: 0 };

test.each([
  [0, 0.8, "the cut"],
  [2_000, 0.8, "holds while the window empties to it"],
  [4_500, 0.85, "climbs"],
  [7_000, 0.9, "is back at the last good level within seconds"],
  [13_000, 0.9, "stays there"],
  [16_000, 0.9 * (1 + 1 / 27), "probes slowly at first"],
  [22_000, 1.8, "and faster while nothing is refused"],
])("after %d ms the level is %d: %s", (ageMs, level) => {
  expect(climbedTo(0.8, climb, ageMs)).toBeCloseTo(level, 10);
});

test("the level rises at every announced time, and only then by more than a step", () => {
  let ageMs = 0;
  let level = climbedTo(0.8, climb, 0);
  for (let i = 0; i < 100; i++) {
    const next = nextClimbMs(climb, ageMs);
    expect(next).toBeGreaterThan(ageMs);
    expect(climbedTo(0.8, climb, next)).toBeGreaterThan(level);
    [ageMs, level] = [next, climbedTo(0.8, climb, next)];
  }
});

test("of two climbs the same one is later, in either order of comparison", () => {
  const others = [undefined, climb, { ...climb, good: 0.8 }, { ...climb, failures: 1 }, { ...climb, probeMs: 14_000 }];
  for (const a of others)
    for (const b of others) {
      expect(Math.sign(compareClimbs(a, b)) + Math.sign(compareClimbs(b, a))).toBe(0);
      expect(compareClimbs(a, b) === 0).toBe(a === b);
    }
});
