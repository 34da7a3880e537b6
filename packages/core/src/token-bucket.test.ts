import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isHivepaceError } from "./errors.ts";
import { TokenBucket } from "./token-bucket.ts";

const perMinute = (capacity: number, burst?: number) => new TokenBucket({ capacity, windowMs: 60_000, burst }, 0);

describe("grants step by step", () => {
  type Step = { at: number; cost: number; ok: boolean };
  const tables: Record<string, { bucket: TokenBucket; steps: Step[] }> = {
    "starts full, then grants as it refills": {
      bucket: perMinute(2),
      steps: [
        { at: 0, cost: 1, ok: true },
        { at: 0, cost: 1, ok: true },
        { at: 0, cost: 1, ok: false },
        { at: 29_999, cost: 1, ok: false },
        { at: 30_000, cost: 1, ok: true },
        { at: 30_000, cost: 1, ok: false },
      ],
    },
    "never holds more than its capacity": {
      bucket: perMinute(2),
      steps: [
        { at: 3_600_000, cost: 2, ok: true },
        { at: 3_600_000, cost: 1, ok: false },
      ],
    },
    "never holds more than its burst, and refills at its capacity": {
      bucket: perMinute(60, 1),
      steps: [
        { at: 0, cost: 1, ok: true },
        { at: 999, cost: 1, ok: false },
        { at: 1_000, cost: 1, ok: true },
        { at: 61_000, cost: 1, ok: true },
        { at: 61_000, cost: 1, ok: false },
      ],
    },
    "a clock that jumps back adds and removes no tokens, and the refill continues from there": {
      bucket: perMinute(60),
      steps: [
        { at: 100_000, cost: 60, ok: true },
        { at: 100_500, cost: 1, ok: false },
        { at: 40_000, cost: 1, ok: false },
        { at: 40_499, cost: 1, ok: false },
        { at: 40_500, cost: 1, ok: true },
      ],
    },
    "a refused cost takes nothing": {
      bucket: perMinute(3),
      steps: [
        { at: 0, cost: 4, ok: false },
        { at: 0, cost: 3, ok: true },
      ],
    },
    "costs may be fractions": {
      bucket: perMinute(1),
      steps: [
        { at: 0, cost: 0.25, ok: true },
        { at: 0, cost: 0.75, ok: true },
        { at: 0, cost: 0.25, ok: false },
        { at: 15_000, cost: 0.25, ok: true },
      ],
    },
  };
  for (const [law, { bucket, steps }] of Object.entries(tables)) {
    test(law, () => {
      for (const step of steps) expect([step, bucket.take(step.cost, step.at)]).toEqual([step, step.ok]);
    });
  }
});

test("a bucket of 60 a minute that is read every millisecond grants 60 in a minute", () => {
  const bucket = perMinute(60);
  bucket.take(60, 0);
  let granted = 0;
  for (let now = 1; now <= 60_000; now++) if (bucket.take(1, now)) granted++;
  expect(granted).toBe(60);
});

test("fractional times lose no fraction of a token", () => {
  const bucket = perMinute(7);
  bucket.take(7, 0);
  let granted = 0;
  for (let i = 1; i <= 200_000; i++) if (bucket.take(1, i * 0.3)) granted++;
  expect(granted).toBe(7);
});

describe("a resize keeps spent tokens spent", () => {
  test("up makes the additional tokens available at once, but not the spent ones", () => {
    const bucket = perMinute(60);
    bucket.take(50, 0);
    bucket.resize({ capacity: 100, windowMs: 60_000 }, 0);
    expect(bucket.tokens(0)).toBe(50);
  });

  test("down below the spent amount leaves a deficit that must refill first", () => {
    const bucket = perMinute(60);
    bucket.take(50, 0);
    bucket.resize({ capacity: 20, windowMs: 60_000 }, 0);
    expect(bucket.tokens(0)).toBe(-30);
    expect(bucket.waitMs(1, 0)).toBe(93_000);
  });

  test("down and up again leaves the level unchanged", () => {
    const bucket = perMinute(60);
    bucket.take(50, 0);
    bucket.resize({ capacity: 20, windowMs: 60_000 }, 0);
    bucket.resize({ capacity: 60, windowMs: 60_000 }, 0);
    expect(bucket.tokens(0)).toBe(10);
  });

  test("in mid-window keeps the tokens that were refilled at the old rate", () => {
    const bucket = perMinute(60);
    bucket.take(60, 0);
    bucket.resize({ capacity: 120, windowMs: 60_000 }, 30_000);
    expect(bucket.tokens(30_000)).toBe(90);
    expect(bucket.tokens(31_000)).toBe(92);
  });

  test("to another window keeps the number of spent tokens", () => {
    const bucket = perMinute(60);
    bucket.take(45, 0);
    bucket.resize({ capacity: 60, windowMs: 1_000 }, 0);
    expect(bucket.tokens(0)).toBe(15);
    expect(bucket.waitMs(16, 0)).toBeCloseTo(1_000 / 60);
  });
});

test("returned tokens are available again, up to the burst", () => {
  const bucket = perMinute(10);
  bucket.take(4, 0);
  bucket.give(1, 0);
  expect(bucket.tokens(0)).toBe(7);
  bucket.give(100, 0);
  expect(bucket.tokens(0)).toBe(10);
});

test("tokens are available after waitMs and not a moment before", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000_000 }),
      fc.integer({ min: 1, max: 86_400_000 }),
      fc.double({ min: 0, max: 1e9, noNaN: true }),
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      (capacity, windowMs, start, part) => {
        const bucket = new TokenBucket({ capacity, windowMs }, start);
        bucket.take(capacity, start);
        const cost = capacity * part;
        const wait = bucket.waitMs(cost, start);
        const before = start + wait * 0.999;
        if (start + wait - before > 1e-3) expect(bucket.take(cost, before)).toBe(false);
        // The clock's own resolution at this time may fall short of the wait by half a step.
        expect(bucket.take(cost, start + wait + 1e-6)).toBe(true);
      },
    ),
  );
});

test("readyAt returns a time in the past for tokens that have been available since then", () => {
  const bucket = perMinute(60);
  bucket.take(60, 0);
  expect(bucket.readyAt(2, 10_000)).toBe(2_000);
  expect(bucket.readyAt(2, 500_000)).toBe(2_000);
});

test("the grants of any interval are at most the burst plus the refill", () => {
  const costAndPause = fc.tuple(fc.integer({ min: 1, max: 9 }), fc.double({ min: 0, max: 5_000, noNaN: true }));
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 100_000 }),
      fc.integer({ min: 1, max: 50 }),
      fc.array(costAndPause, { maxLength: 60 }),
      (capacity, windowMs, burst, tries) => {
        const bucket = new TokenBucket({ capacity, windowMs, burst }, 0);
        let now = 0;
        const log: { at: number; cost: number }[] = [];
        for (const [cost, pause] of tries) {
          now += pause;
          if (bucket.take(cost, now)) log.push({ at: now, cost });
        }
        for (let from = 0; from < log.length; from++) {
          let sum = 0;
          for (const { at, cost } of log.slice(from)) {
            sum += cost;
            const passed = at - (log[from]?.at ?? 0);
            expect(sum).toBeLessThanOrEqual(burst + (capacity * passed) / windowMs + 1e-6);
          }
        }
      },
    ),
  );
});

describe("invalid limits are refused by name and change nothing", () => {
  const bad = [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "60" as unknown as number];
  test.each(bad)("capacity %s", (capacity) => {
    expect(codeOf(() => new TokenBucket({ capacity, windowMs: 1 }, 0))).toBe("INVALID_CAPACITY");
  });
  test.each(bad)("windowMs %s", (windowMs) => {
    expect(codeOf(() => new TokenBucket({ capacity: 1, windowMs }, 0))).toBe("INVALID_WINDOW");
  });
  test.each(bad)("burst %s", (burst) => {
    expect(codeOf(() => new TokenBucket({ capacity: 1, windowMs: 1, burst }, 0))).toBe("INVALID_CAPACITY");
  });
  test("in a resize", () => {
    const bucket = perMinute(10);
    bucket.take(3, 0);
    expect(codeOf(() => bucket.resize({ capacity: 20, windowMs: Number.NaN }, 0))).toBe("INVALID_WINDOW");
    expect([bucket.capacity, bucket.windowMs, bucket.tokens(0)]).toEqual([10, 60_000, 7]);
  });
});

function codeOf(action: () => unknown): string | undefined {
  try {
    action();
  } catch (error) {
    if (isHivepaceError(error)) return error.code;
  }
  return undefined;
}
