import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { MemoryLimiter } from "./memory-limiter.ts";
import { ManualClock } from "./testing/manual-clock.ts";

function limiterOf(capacity: number): { limiter: MemoryLimiter; clock: ManualClock } {
  const clock = new ManualClock();
  const limiter = new MemoryLimiter({ clock });
  limiter.setCapacity("api", capacity, 1_000);
  return { limiter, clock };
}

test("a signal shared by thousands of waiters has one listener, and none once the last wait has ended", async () => {
  const { limiter, clock } = limiterOf(1);
  const { signal } = new AbortController();
  limiter.tryAcquire("api");
  const waits = [...Array(2_000).keys()].map(() => limiter.acquire("api", { signal }));
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  await clock.run(1_999_000);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  await clock.run(1_000);
  await Promise.all(waits);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("an abort ends all waits of its signal before any other wait is served", async () => {
  const { limiter, clock } = limiterOf(10);
  const [abort, { signal: other }] = [new AbortController(), new AbortController()];
  limiter.tryAcquire("api", 5);
  const large = limiter.acquire("api", { cost: 10, signal: abort.signal });
  const small = limiter.acquire("api", { cost: 5, signal: abort.signal });
  const patient = limiter.acquire("api", { cost: 5, signal: other });
  abort.abort(new Error("enough"));
  await Promise.all([large, small].map((wait) => expect(wait).rejects.toThrow("enough")));
  await patient;
  expect(limiter.getCapacity("api")).toMatchObject({ available: 0, inFlight: 2 });
  expect([abort.signal, other].map((signal) => getEventListeners(signal, "abort").length)).toEqual([0, 0]);
  expect(clock.pending).toBe(0);
});
