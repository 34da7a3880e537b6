import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BINS, type Climb, type Level, type Message, MOST_REFUNDS, type QuotaReport } from "../engine/index.ts";
import { BOUNDS, type Bound, clamped, isWithin } from "./bounds.ts";
import { decodeCapacity, encodeCapacity } from "./capacity.ts";
import { decodePresence, encodePresence } from "./presence.ts";
import { MOST_BYTES_SENT } from "./subjects.ts";

/** Values that no engine should produce, and the limits of every bound. */
const extremes = [
  NaN,
  Infinity,
  -Infinity,
  Number.MAX_VALUE,
  -0,
  ...bounds().flatMap(({ least, most }) => [least, most]),
];
const wild = fc.oneof(fc.double(), fc.constantFrom(...extremes, ...extremes.map((value) => value * 1.5)));

const climb: fc.Arbitrary<Climb> = fc.record({
  good: wild,
  holdMs: wild,
  climbMs: wild,
  probeMs: wild,
  growMs: wild,
  failures: wild,
});

const level: fc.Arbitrary<Level> = fc.record({
  epoch: wild,
  pauseCount: wild,
  levelAtCut: wild,
  recoveryFactor: wild,
  recoveryIntervalMs: wild,
  levelMax: wild,
  cutAt: wild,
  pausedAt: wild,
  pauseMs: wild,
  origin: fc.constant("agent-1"),
  reason: fc.constant("429"),
  climb: fc.option(climb, { nil: undefined }),
});
const report: fc.Arbitrary<QuotaReport> = fc.integer({ min: 1, max: 4 }).chain((length) => {
  const amounts = fc.array(wild, { minLength: length, maxLength: length });
  const bins = fc.array(amounts, { minLength: BINS, maxLength: BINS });
  const names = ["requests", "tokens", "input_tokens", "output_tokens"];
  return fc.record({
    name: fc.constant("api"),
    windowMs: wild,
    dimensions: fc.option(fc.shuffledSubarray(names, { minLength: length, maxLength: length }), { nil: undefined }),
    limits: amounts,
    upMs: fc.option(wild, { nil: undefined }),
    spentTotal: amounts,
    refundedTotal: amounts,
    refundAgeMs: wild,
    refunds: fc.array(fc.record({ ageMs: wild, amounts }), { maxLength: MOST_REFUNDS }),
    used: amounts,
    bins,
    demand: amounts,
    claim: fc.record({ amounts, next: amounts, virtualTime: wild, tie: wild, waitedMs: wild }),
    virtualTime: wild,
    level,
    joinSnapshot: bins,
    heldMs: fc.option(wild, { nil: undefined }),
    endsMs: fc.option(wild, { nil: undefined }),
    adaptive: fc.option(fc.record({ epoch: wild, base: wild, steps: wild, changedAt: wild }), { nil: undefined }),
    departed: fc.option(wild, { nil: undefined }),
    departedMs: fc.option(wild, { nil: undefined }),
  });
});
const message: fc.Arbitrary<Message> = fc.record({
  id: fc.constant("agent-1"),
  incarnation: wild,
  seq: wild,
  upMs: wild,
  nextMs: wild,
  weight: wild,
  members: wild,
  bye: fc.boolean(),
  quotas: fc.array(report, { maxLength: 3 }),
});

describe("for any numbers in the state, the encoded state can be decoded", () => {
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

test("a number within its bounds is encoded unchanged, apart from fractions of a millisecond", () => {
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
  ["the age of what was given back is rounded up", BOUNDS.quota.back_age_ms, 12.1, 13],
  ["a sum that ended below nothing is nothing", BOUNDS.claim.amounts, -1e-9, 0],
  ["what is no number is the least", BOUNDS.quota.used, NaN, 0],
])("%s", (_, bound, value, said) => {
  expect(clamped(bound, value)).toBe(said);
});

function bounds(): Bound[] {
  return Object.values(BOUNDS).flatMap((fields): Bound[] => Object.values(fields));
}
