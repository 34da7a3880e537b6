import fc from "fast-check";
import { expect, test } from "vitest";
import { budgetFraction, type Isolation, KEPT, trust } from "./silence.ts";

const policies: readonly Isolation[] = ["safe", "balanced", "available"];
const times = fc.integer({ min: 0, max: 400_000 });
const windows = fc.constantFrom(1_000, 5_000, 60_000, 3_600_000);

test.each([
  [0, 1],
  [25_000, 1],
  [30_000, 0.5],
  [34_999, 0.25],
  [35_000, 0],
])("after %i ms of silence trust is %d", (ms, part) => {
  expect(trust(ms)).toBeCloseTo(part, 3);
});

test("trust and the held capacity never grow with the silence", () => {
  fc.assert(
    fc.property(times, times, windows, fc.constantFrom(...policies), (a, b, windowMs, isolation) => {
      const [early, late] = [Math.min(a, b), Math.max(a, b)];
      expect(trust(late)).toBeLessThanOrEqual(trust(early));
      expect(budgetFraction(isolation, late, windowMs)).toBeLessThanOrEqual(
        budgetFraction(isolation, early, windowMs) + 1e-9,
      );
    }),
  );
});

test("an isolated agent never uses more in a window than peers hold free for it, apart from its isolation policy", () => {
  fc.assert(
    fc.property(times, windows, fc.constantFrom(...policies), (silentMs, windowMs, isolation) => {
      const reserved = trust(silentMs - windowMs);
      expect(budgetFraction(isolation, silentMs, windowMs)).toBeLessThanOrEqual(
        Math.max(reserved, KEPT[isolation]) + 1e-9,
      );
    }),
  );
});

test.each([
  ["safe", 0],
  ["balanced", 0.5],
  ["available", 1],
] as const)(
  "in the end %s keeps %d of its share, and a minute after the silence began more than that",
  (isolation, part) => {
    expect(budgetFraction(isolation, 95_000, 60_000)).toBe(part);
    expect(budgetFraction(isolation, 60_000, 60_000)).toBeGreaterThanOrEqual(part + (1 - part) * 0.4);
  },
);
