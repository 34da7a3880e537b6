import { expect, test } from "vitest";
import { AgentClock } from "./agent-clock.ts";
import { LocalTime } from "./local-time.ts";
import { Timeline } from "./timeline.ts";

function clockOf(speed = 1) {
  const timeline = new Timeline();
  return { timeline, clock: new AgentClock(timeline, new LocalTime(5_000, speed), { epochOffsetMs: 0.5 }) };
}

test.each([0.99, 1, 1.013])(
  "a timer of a clock of speed %d fires when it is due by that clock, never early",
  (speed) => {
    const { timeline, clock } = clockOf(speed);
    const late: number[] = [];
    for (let ms = 1; ms <= 500; ms += 0.7) {
      const dueAt = clock.now() + ms;
      clock.after(ms, () => late.push(clock.now() - dueAt));
    }
    timeline.runUntil(600);
    expect(late.length).toBe(713);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
    // The timeline rounds times up to whole milliseconds.
    expect(Math.max(...late)).toBeLessThan(2.1 * speed);
    expect(clock.pending).toBe(0);
  },
);

test("a cancelled timer does not fire, and its cancel may be called again", () => {
  const { timeline, clock } = clockOf();
  let fired = 0;
  const cancel = clock.after(10, () => fired++);
  cancel();
  cancel();
  expect(clock.pending).toBe(0);
  timeline.runUntil(20);
  expect(fired).toBe(0);
});

test("a process that stands still fires overdue timers in order when it resumes", () => {
  const { timeline, clock } = clockOf();
  const fired: string[] = [];
  for (const [ms, name] of [
    [20, "b"],
    [10, "a"],
    [90, "c"],
  ] as const)
    clock.after(ms, () => fired.push(`${name} ${clock.now()}`));
  clock.pause();
  timeline.runUntil(50);
  expect(fired).toEqual([]);
  clock.resume();
  expect(fired).toEqual(["a 5050", "b 5050"]);
  timeline.runUntil(100);
  expect(fired.at(-1)).toBe("c 5090");
});

test("a crashed process fires nothing and arms nothing", () => {
  const { timeline, clock } = clockOf();
  let fired = 0;
  clock.after(10, () => fired++);
  clock.stop();
  clock.after(10, () => fired++);
  timeline.runUntil(50);
  expect([fired, clock.pending]).toEqual([0, 0]);
});

test("the wall clock has a fraction of a millisecond, so that incarnations follow from it", () => {
  const { timeline, clock } = clockOf();
  timeline.runUntil(1_000);
  expect(clock.epochMs()).toBe(Date.UTC(2030, 0, 1) + 1_000.5);
});
