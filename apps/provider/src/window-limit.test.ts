import { seededRandom } from "@hivepace/core/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { largestWindow, type Sent } from "./record.ts";
import { type WindowKind, WindowLimit } from "./window-limit.ts";

const sent = (at: number, tokens: number, accepted = true): Sent => ({
  at,
  tokens,
  accepted,
  agent: "a",
  model: "m",
  status: accepted ? 200 : 429,
  retryCount: 0,
});

/** Sends requests at random times around the advised ones, as a greedy client would; returns all of them. */
function hammer(kind: WindowKind, seed: number): Sent[] {
  const random = seededRandom(seed);
  const limit = new WindowLimit(kind, 1_000, { rpm: 20, tpm: 1_000 });
  const log: Sent[] = [];
  for (let now = 0; now < 5_000; now += random() * 40) {
    const tokens = Math.ceil(random() * 150);
    log.push(sent(now, tokens, limit.tryTake(tokens, now).allowed));
  }
  return log;
}

test("a sliding limit is never exceeded in any interval, and is well used", () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const { requests, tokens } = largestWindow(hammer("sliding", seed), 1_000);
      expect(requests).toBeLessThanOrEqual(20);
      expect(tokens).toBeLessThanOrEqual(1_000);
      expect(tokens).toBeGreaterThan(600);
    }),
    { numRuns: 50 },
  );
});

test("a fixed limit holds within each window", () => {
  const log = hammer("fixed", 7);
  for (let from = 0; from < 5_000; from += 1_000) {
    const inside = log.filter(({ at, accepted }) => accepted && at >= from && at < from + 1_000);
    expect(inside.length).toBeLessThanOrEqual(20);
    expect(inside.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(1_000);
  }
});

test("a bucket admits its size at once and then its rate", () => {
  const limit = new WindowLimit("bucket", 1_000, { rpm: 10 });
  const allowedAt = (now: number) => {
    let count = 0;
    while (limit.tryTake(1, now).allowed) count++;
    return count;
  };
  expect(allowedAt(0)).toBe(10);
  expect(allowedAt(500)).toBe(5);
  expect(allowedAt(600)).toBe(1);
  expect(allowedAt(5_000)).toBe(10);
});

describe.each(["sliding", "fixed", "bucket"] as const)("%s", (kind) => {
  test("a request at the advised time is accepted, an earlier one is refused", () => {
    const limit = new WindowLimit(kind, 1_000, { rpm: 2, tpm: 100 });
    expect(limit.tryTake(60, 100).allowed).toBe(true);
    const refused = limit.tryTake(60, 200);
    expect(refused).toMatchObject({ allowed: false, limitedBy: "tokens" });
    expect(limit.tryTake(60, 200 + refused.retryAfterMs - 1).allowed).toBe(false);
    expect(limit.tryTake(60, 200 + refused.retryAfterMs).allowed).toBe(true);
  });

  test("a refused request consumes neither limit", () => {
    const limit = new WindowLimit(kind, 1_000, { rpm: 2, tpm: 100 });
    for (let i = 0; i < 10; i++) limit.tryTake(101, 0);
    expect(limit.state(0).requests).toMatchObject({ limit: 2, remaining: 2 });
    expect(limit.tryTake(100, 0).allowed).toBe(true);
    expect(limit.state(0)).toMatchObject({ requests: { remaining: 1 }, tokens: { remaining: 0 } });
  });

  test("a request larger than the limit gets no time to wait", () => {
    expect(new WindowLimit(kind, 1_000, { tpm: 100 }).tryTake(101, 0).retryAfterMs).toBe(Infinity);
  });

  test("a new limit applies at once, and usage is unchanged", () => {
    const limit = new WindowLimit(kind, 1_000, { rpm: 2 });
    limit.tryTake(1, 0);
    limit.tryTake(1, 0);
    limit.setLimits({ rpm: 3 }, 0);
    expect([limit.tryTake(1, 0).allowed, limit.tryTake(1, 0).allowed]).toEqual([true, false]);
    limit.setLimits({ rpm: undefined }, 0);
    expect(limit.tryTake(1, 0).allowed).toBe(true);
  });
});

test("the largest window counts accepted requests in half-open intervals", () => {
  const log = [sent(0, 10), sent(400, 20), sent(500, 99, false), sent(999, 30), sent(1_000, 40)];
  expect(largestWindow(log, 1_000)).toEqual({ requests: 3, tokens: 90 });
  expect(largestWindow(log, 100)).toEqual({ requests: 2, tokens: 70 });
  expect(largestWindow([], 100)).toEqual({ requests: 0, tokens: 0 });
});

test("a refused request counts as one request and no tokens when the provider counts refusals", () => {
  for (const [counts, requests] of [
    [false, 1],
    [true, 2],
  ] as const) {
    const limit = new WindowLimit("sliding", 1_000, { rpm: 3, tpm: 100 }, counts);
    expect(limit.tryTake(80, 0).allowed).toBe(true);
    expect(limit.tryTake(80, 1).allowed).toBe(false);
    const { requests: left, tokens } = limit.state(2);
    expect([left?.remaining, tokens?.remaining]).toEqual([3 - requests, 20]);
  }
});

test("clients that repeat refused requests stay refused while the provider counts refusals", () => {
  const limit = new WindowLimit("sliding", 1_000, { rpm: 10 }, true);
  let accepted = 0;
  for (let now = 0; now < 5_000; now += 50) if (limit.tryTake(1, now).allowed) accepted++;
  expect(accepted).toBe(10);
});
