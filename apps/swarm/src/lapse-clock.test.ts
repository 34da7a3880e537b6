import { ManualClock } from "@hivepace/core/testing";
import { expect, test } from "vitest";
import { LapseClock, sleeper } from "./lapse-clock.ts";

test("a clock of speed 12 shows a minute after five seconds, and its timers fire accordingly", () => {
  const real = new ManualClock();
  const clock = new LapseClock(12, real.epochMs(), real);
  const [now, epoch] = [clock.now(), clock.epochMs()];
  let fired = 0;
  clock.after(60_000, () => fired++);
  real.advance(4_999);
  expect(fired).toBe(0);
  real.advance(1);
  expect(fired).toBe(1);
  expect([clock.now() - now, clock.epochMs() - epoch]).toEqual([60_000, 60_000]);
});

test("an aborted sleep rejects at once and leaves no timer", async () => {
  const real = new ManualClock();
  const sleep = sleeper(new LapseClock(12, 0, real));
  const stop = new AbortController();
  const sleeping = sleep(60_000, stop.signal);
  stop.abort(new Error("stopped"));
  await expect(sleeping).rejects.toThrow("stopped");
  await expect(sleep(1, stop.signal)).rejects.toThrow("stopped");
  expect(real.pending).toBe(0);
});
