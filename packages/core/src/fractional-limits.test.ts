import { expect, test } from "vitest";
import { MemoryLimiter } from "./memory-limiter.ts";
import { RateManager } from "./rate/index.ts";
import { ManualClock } from "./testing/manual-clock.ts";

const MINUTE = 60_000;
const EPOCH = Date.UTC(2030, 0, 1);

test("a limiter of 0.5 calls a minute grants one every two minutes", async () => {
  const clock = new ManualClock();
  const limiter = new MemoryLimiter({ clock });
  limiter.setCapacity("api", 0.5, MINUTE);
  const grantedAt: number[] = [];
  for (let i = 0; i < 3; i++) void limiter.acquire("api").then(() => grantedAt.push(clock.now()));
  await clock.run(10 * MINUTE);
  expect(grantedAt).toEqual([0, 2 * MINUTE, 4 * MINUTE]);
});

/** Returns how many of one attempt per second are granted within the given minutes. */
function grantsOf(manager: RateManager, clock: ManualClock, minutes: number, key?: string): number {
  let granted = 0;
  for (let second = 0; second < minutes * 60; second++) {
    if (manager.check({ endpoint: "eu", key, tokens: 1 }).allowed) granted++;
    clock.advance(1_000);
  }
  return granted;
}

for (const window of ["fixed", "sliding"] as const) {
  test(`a manager with ${window} windows holds a limit below one per window over several windows`, () => {
    const clock = new ManualClock({ epochMs: EPOCH });
    const manager = new RateManager({ clock, window });
    manager.setEndpoint({ id: "eu", rpmLimit: 0.5 });
    // The limit spans pairs of windows counted from the start of the clock, so the first pair may be half over.
    expect(grantsOf(manager, clock, 20)).toBeOneOf([10, 11]);
    manager.setEndpoint({ id: "eu" });
    manager.setKey("acme", { rpmLimit: 0.25, tpmLimit: 1_000 });
    expect(grantsOf(manager, clock, 40, "acme")).toBeOneOf([10, 11]);
  });
}

test("a fractional limit reports when it allows the next request, and keeps its counts", () => {
  const clock = new ManualClock({ epochMs: EPOCH });
  const manager = new RateManager({ clock });
  manager.setEndpoint({ id: "eu", rpmLimit: 0.5, tpmLimit: 100 });
  clock.advance(MINUTE);
  const first = manager.check({ endpoint: "eu", tokens: 10 });
  expect(first.allowed).toBe(true);
  clock.advance(MINUTE + 10_000);
  const denied = manager.check({ endpoint: "eu", tokens: 10 });
  expect(denied).toMatchObject({ allowed: false, reason: "rate", limitedBy: "endpoint-rpm" });
  const { retryAfterMs = 0 } = denied;
  expect(retryAfterMs).toBeGreaterThan(0);
  expect(retryAfterMs).toBeLessThanOrEqual(2 * MINUTE);
  clock.advance(retryAfterMs - 1);
  expect(manager.check({ endpoint: "eu", tokens: 10 }).allowed).toBe(false);
  clock.advance(1);
  const next = manager.check({ endpoint: "eu", tokens: 10 });
  expect(next.allowed).toBe(true);
  // The refund arrives after the first of the two minutes, and the quota is free again.
  clock.advance(MINUTE);
  manager.cancel(next);
  expect(manager.check({ endpoint: "eu", tokens: 10 }).allowed).toBe(true);
  expect(manager.check({ endpoint: "eu", tokens: 101 })).toMatchObject({ reason: "too-large" });
  expect(manager.snapshot().endpoints).toMatchObject([{ rpmLimit: 0.5, tpmLimit: 100, requests: 1 }]);
});

test("a limit that becomes fractional keeps the counts of the present window", () => {
  const clock = new ManualClock({ epochMs: EPOCH });
  const manager = new RateManager({ clock });
  manager.setEndpoint({ id: "eu", rpmLimit: 10 });
  clock.advance(3 * MINUTE);
  manager.check({ endpoint: "eu", tokens: 0 });
  manager.setEndpoint({ id: "eu", rpmLimit: 0.5 });
  expect(manager.check({ endpoint: "eu", tokens: 0 }).allowed).toBe(false);
  clock.advance(2 * MINUTE);
  expect(manager.check({ endpoint: "eu", tokens: 0 }).allowed).toBe(true);
  manager.setEndpoint({ id: "eu", rpmLimit: 10 });
  clock.advance(MINUTE);
  for (let i = 0; i < 10; i++) expect(manager.check({ endpoint: "eu", tokens: 0 }).allowed).toBe(true);
  expect(manager.check({ endpoint: "eu", tokens: 0 }).allowed).toBe(false);
});

test("a limit of 0 allows no request", () => {
  const manager = new RateManager({ clock: new ManualClock({ epochMs: EPOCH }) });
  manager.setEndpoint({ id: "eu", rpmLimit: 0 });
  expect(manager.check({ endpoint: "eu", tokens: 0 })).toMatchObject({ allowed: false, reason: "too-large" });
});

test("invalid token parts are refused before anything is counted and before a decision is closed", () => {
  const manager = new RateManager({ clock: new ManualClock({ epochMs: EPOCH }) });
  manager.setEndpoint({ id: "eu", rpmLimit: 10, inputTpmLimit: 100, outputTpmLimit: 100 });
  for (const part of ["inputTokens", "outputTokens"] as const) {
    const error = expect.objectContaining({ code: "INVALID_CONFIG", option: part });
    expect(() => manager.check({ endpoint: "eu", tokens: 10, [part]: Number.NaN })).toThrow(error);
    expect(() => manager.peek({ endpoint: "eu", tokens: 10, [part]: -1 })).toThrow(error);
    const decision = manager.check({ endpoint: "eu", tokens: 10, inputTokens: 5, outputTokens: 5 });
    expect(() => manager.settle(decision, 10, { [part]: Number.NaN })).toThrow(error);
    expect(manager.snapshot().endpoints).toMatchObject([{ requests: 1, tokens: 10, inputTokens: 5, outputTokens: 5 }]);
    manager.cancel(decision);
    expect(manager.snapshot().endpoints).toMatchObject([{ requests: 0, tokens: 0, inputTokens: 0, outputTokens: 0 }]);
  }
});
