import fc from "fast-check";
import { expect, test } from "vitest";
import { AVAILABLE, isLater, mergeRegisters, type Register } from "./register.ts";
import { decayedCount, impatientWait, waitOf } from "./waits.ts";

const few = fc.integer({ min: 0, max: 2 });
const name = fc.constantFrom("a", "b");
const register: fc.Arbitrary<Register> = fc.record({
  epoch: fc.integer({ min: 1, max: 2 }),
  state: fc.constantFrom("available", "overloaded", "broken", "parked"),
  cause: fc.constantFrom("overload", "parked"),
  count: few,
  since: few,
  changedAt: few,
  waitMs: few,
  isProbed: fc.boolean(),
  refusalMs: fc.constantFrom(0, 20),
  probes: few,
  prober: name,
  probedAt: few,
  origin: name,
  reason: name,
});

test("merging does not depend on order, grouping or repetition", () => {
  fc.assert(
    fc.property(register, register, register, (a, b, c) => {
      expect(mergeRegisters(a, b)).toEqual(mergeRegisters(b, a));
      expect(mergeRegisters(mergeRegisters(a, b), c)).toEqual(mergeRegisters(a, mergeRegisters(b, c)));
      expect(mergeRegisters(a, mergeRegisters(a, b))).toEqual(mergeRegisters(a, b));
    }),
    { numRuns: 5_000 },
  );
});

test("anything supersedes the state before the first trouble, and of two concurrent states the worse counts", () => {
  fc.assert(fc.property(register, (one) => isLater(one, AVAILABLE)));
  const broken: Register = { ...AVAILABLE, epoch: 3, state: "broken", waitMs: 1 };
  expect(isLater({ ...broken, state: "parked" }, { ...broken, waitMs: 9 })).toBe(true);
});

test.each([
  ["overloaded", [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]],
  ["broken", [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000]],
  ["parked", [1, 2, 4, 8, 16, 30, 30].map((minutes) => minutes * 60_000)],
] as const)("the waits of %s double up to their bound", (state, waits) => {
  expect(waits.map((_, i) => waitOf(state, i + 1))).toEqual(waits);
});

test("callers without another endpoint wait for a thirtieth of the outage, and never less than the provider requested", () => {
  const broken: Register = {
    ...AVAILABLE,
    epoch: 1,
    state: "broken",
    count: 7,
    since: 0,
    changedAt: 90_000,
    waitMs: 60_000,
  };
  expect(impatientWait(broken)).toBe(3_000);
  expect(impatientWait({ ...broken, changedAt: 10_000 })).toBe(2_000);
  expect(impatientWait({ ...broken, count: 1, waitMs: 30_000 })).toBe(30_000);
  expect(impatientWait({ ...broken, state: "parked" })).toBe(60_000);
});

test("the count of pauses drops by one for every ten seconds of availability", () => {
  const available: Register = { ...AVAILABLE, epoch: 2, count: 3, changedAt: 0 };
  expect([0, 9_999, 10_000, 25_000, 60_000].map((now) => decayedCount(available, now))).toEqual([3, 3, 2, 1, 0]);
  expect(decayedCount({ ...available, state: "broken" }, 60_000)).toBe(3);
});
