import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "./clock.ts";
import { ManualClock } from "./testing/manual-clock.ts";

describe("the system clock", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("fires once, never before its time, and rounds fractions up", () => {
    const fired: number[] = [];
    const start = systemClock.now();
    systemClock.after(10.25, () => fired.push(systemClock.now() - start));
    vi.advanceTimersByTime(10);
    expect(fired).toEqual([]);
    vi.advanceTimersByTime(100);
    expect(fired).toEqual([11]);
  });

  test("arms the timer again when it fires early, as Node's timers do by fractions", () => {
    const fired = vi.fn();
    systemClock.after(10, fired);
    const early = vi.spyOn(performance, "now").mockReturnValue(systemClock.now() + 9.5);
    vi.advanceTimersByTime(10);
    expect(fired).not.toHaveBeenCalled();
    early.mockRestore();
    vi.advanceTimersByTime(1);
    expect(fired).toHaveBeenCalledOnce();
  });

  test("waits longer than Node's longest timer", () => {
    const month = 30 * 24 * 3_600_000;
    const fired = vi.fn();
    systemClock.after(month, fired);
    vi.advanceTimersByTime(month - 1);
    expect(fired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(fired).toHaveBeenCalledOnce();
  });

  test("a cancelled timer does not fire, even in its second part; cancelling again has no effect", () => {
    const fired = vi.fn();
    const cancel = systemClock.after(2 ** 32, fired);
    vi.advanceTimersByTime(2 ** 31);
    cancel();
    cancel();
    vi.advanceTimersByTime(2 ** 32);
    expect(fired).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("returns the wall clock's time", () => {
    vi.setSystemTime(1_234_567);
    expect(systemClock.epochMs()).toBe(1_234_567);
  });
});

describe("the manual clock", () => {
  test("fires due timers in order, each at its own time, including those armed meanwhile", () => {
    const clock = new ManualClock();
    const log: [string, number][] = [];
    clock.after(20, () => log.push(["b", clock.now()]));
    clock.after(10, () => {
      log.push(["a", clock.now()]);
      clock.after(5, () => log.push(["a+5", clock.now()]));
    });
    clock.after(20, () => log.push(["c", clock.now()]));
    expect([clock.pending, clock.nextDueAt]).toEqual([3, 10]);
    clock.advance(20);
    expect(log).toEqual([
      ["a", 10],
      ["a+5", 15],
      ["b", 20],
      ["c", 20],
    ]);
    expect([clock.pending, clock.nextDueAt, clock.now()]).toEqual([0, undefined, 20]);
  });

  test("the wall clock can be stepped without moving monotonic time", () => {
    const clock = new ManualClock({ epochMs: 1_000 });
    clock.advance(10);
    clock.stepWallClock(-3_600_000);
    expect([clock.now(), clock.epochMs()]).toEqual([10, 1_010 - 3_600_000]);
  });
});
