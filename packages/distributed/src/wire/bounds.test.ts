import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Level } from "../engine/level.ts";
import type { Message, PoolReport } from "../engine/message.ts";
import { BINS } from "../engine/use-window.ts";
import { BOUNDS, type Bound, clamped, isWithin } from "./bounds.ts";
import { decodeCapacity, encodeCapacity } from "./capacity.ts";
import { decodePresence, encodePresence } from "./presence.ts";
import { MOST_BYTES_SENT } from "./subjects.ts";

/** Values that no engine should produce, and every bound. */
const extremes = [
  NaN,
  Infinity,
  -Infinity,
  Number.MAX_VALUE,
  -0,
  ...bounds().flatMap(({ least, most }) => [least, most]),
];
const wild = fc.oneof(fc.double(), fc.constantFrom(...extremes, ...extremes.map((value) => value * 1.5)));

const level: fc.Arbitrary<Level> = fc.record({
  epoch: wild,
  round: wild,
  base: wild,
  recoveryFactor: wild,
  recoveryIntervalMs: wild,
  most: wild,
  cutAt: wild,
  pausedAt: wild,
  pauseMs: wild,
  origin: fc.constant("agent-1"),
  reason: fc.constant("429"),
});
const report: fc.Arbitrary<PoolReport> = fc.integer({ min: 1, max: 4 }).chain((length) => {
  const amounts = fc.array(wild, { minLength: length, maxLength: length });
  const bins = fc.array(amounts, { minLength: BINS, maxLength: BINS });
  const names = ["requests", "tokens", "input_tokens", "output_tokens"];
  return fc.record({
    name: fc.constant("api"),
    windowMs: wild,
    dimensions: fc.option(fc.shuffledSubarray(names, { minLength: length, maxLength: length }), { nil: undefined }),
    limits: amounts,
    upMs: fc.option(wild, { nil: undefined }),
    sent: amounts,
    back: amounts,
    backAgeMs: wild,
    used: amounts,
    bins,
    waiting: amounts,
    claim: fc.record({ amounts, next: amounts, turn: wild, tie: wild, waitedMs: wild }),
    turn: wild,
    level,
    seen: bins,
  });
});
const message: fc.Arbitrary<Message> = fc.record({
  id: fc.constant("agent-1"),
  life: wild,
  seq: wild,
  upMs: wild,
  nextMs: wild,
  weight: wild,
  members: wild,
  bye: fc.boolean(),
  pools: fc.array(report, { maxLength: 3 }),
});

describe("whatever numbers a state has, what is said of it can be read", () => {
  test("in a report", () => {
    fc.assert(
      fc.property(message, fc.constantFrom(500, MOST_BYTES_SENT), (state, maxBytes) => {
        for (const payload of encodePresence(state, maxBytes)) decodePresence(payload);
      }),
      { numRuns: 2_000 },
    );
  });

  test("in an announcement", () => {
    const time = fc.oneof(fc.date({ noInvalidDate: true }), fc.constantFrom(new Date(8.64e15), new Date(-8.64e15)));
    fc.assert(
      fc.property(wild, time, wild, wild, level, (newCapacity, timestamp, life, seq, cut) => {
        const ours = { life, seq, level: cut };
        const said = { resource: "api", agentId: "agent-1", newCapacity, reason: "429", timestamp, ours };
        expect(decodeCapacity(encodeCapacity(said)).ours).toBeDefined();
      }),
      { numRuns: 2_000 },
    );
  });
});

test("a number within its bounds is said as it is, but for fractions of a millisecond", () => {
  fc.assert(
    fc.property(fc.constantFrom(...bounds()), wild, (bound, value) => {
      const said = clamped(bound, value);
      expect(isWithin(bound, said)).toBe(true);
      if (isWithin(bound, value)) expect(Math.abs(said - value)).toBeLessThanOrEqual(bound.rounds ? 1 : 0);
      expect(clamped(bound, said)).toBe(said);
    }),
  );
});

test.each([
  ["an age beyond its bound is at least that old", BOUNDS.level.cut_age_ms, 1e15, 20 * 365 * 86_400_000],
  ["ages are rounded down, so that none grows on its way", BOUNDS.level.pause_age_ms, 12.9, 12],
  ["the age of what was given back is rounded up", BOUNDS.pool.back_age_ms, 12.1, 13],
  ["a sum that ended below nothing is nothing", BOUNDS.claim.amounts, -1e-9, 0],
  ["what is no number is the least", BOUNDS.pool.used, NaN, 0],
])("%s", (_, bound, value, said) => {
  expect(clamped(bound, value)).toBe(said);
});

function bounds(): Bound[] {
  return Object.values(BOUNDS).flatMap((fields): Bound[] => Object.values(fields));
}
