import { expect, test } from "vitest";
import { Timeline } from "./timeline.ts";

test("events run in order of time, and in order of planning at the same millisecond", () => {
  const timeline = new Timeline();
  const order: string[] = [];
  timeline.at(9_000, () => order.push("far"));
  timeline.at(2, () => order.push("second"));
  timeline.at(1.5, () => order.push("rounded up"));
  timeline.after(1, () => timeline.after(0, () => order.push("planned for now")));
  timeline.runUntil(9_001);
  expect(order).toEqual(["planned for now", "second", "rounded up", "far"]);
});

test("events that cause each other at one millisecond end the run", () => {
  const timeline = new Timeline(1_000);
  const again = (): void => timeline.after(0, again);
  timeline.at(5, again);
  expect(() => timeline.runUntil(10)).toThrow("virtual time stands still at 5 ms, after 1001 events");
});
