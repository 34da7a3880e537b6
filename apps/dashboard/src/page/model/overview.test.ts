import { expect, test } from "vitest";
import { limitFrame, point, resourceFrame } from "../../../test/support/frames.ts";
import { overviewOf, sparkOf } from "./overview.ts";

test("a row has the condition, the binding dimension, and the available amount", () => {
  const tokens = limitFrame({ dimension: "tokens", limit: 1_000, total: 500, used: 450, waiting: 70 });
  const busy = resourceFrame({ resource: "busy", level: 0.5, limits: [limitFrame(), tokens] });
  expect(overviewOf([resourceFrame({ resource: "calm" }), busy])).toMatchObject([
    {
      name: "busy",
      condition: "queueing",
      word: "Queueing",
      percent: "90 %",
      usage: "450 of 500 tokens a minute",
      available: "50 available",
      waiting: "70 tokens waiting",
      limit: 1,
    },
    { name: "calm", condition: "fine", percent: "40 %", waiting: "nobody waits" },
  ]);
});

test("a queue of calls is a plain number, also where tokens bind", () => {
  const tokens = limitFrame({ dimension: "tokens", limit: 1_000, total: 500, used: 450, waiting: 0 });
  const [row] = overviewOf([resourceFrame({ limits: [limitFrame({ dimension: "requests", waiting: 3 }), tokens] })]);
  expect(row).toMatchObject({ limit: 1, waiting: "3 waiting" });
});

test("calls under way have no window", () => {
  const slots = limitFrame({ dimension: "inFlight", limit: 5, total: 5, used: 4, waiting: 2 });
  const [row] = overviewOf([resourceFrame({ resource: "eu@in-flight", windowMs: 0, limits: [slots] })]);
  expect(row).toMatchObject({ usage: "4 of 5 calls under way", available: "1 available", waiting: "2 waiting" });
});

test("a row without a limit has no percentage", () => {
  const unlimited = limitFrame({ dimension: undefined, limit: null, total: null, used: 12 });
  const [row] = overviewOf([resourceFrame({ limits: [unlimited] })]);
  expect(row).toMatchObject({ part: undefined, percent: "no limit", usage: "12 units a minute", available: "" });
  expect(JSON.stringify(row)).not.toMatch(/null|Infinity|-1/);
  expect(overviewOf([resourceFrame({ limits: [] })])[0]?.usage).toBe("no limit heard");
});

test("a pause has its remaining time", () => {
  expect(overviewOf([resourceFrame({ pausedForMs: 3_000 })])[0]?.word).toBe("Paused for 3 s");
});

test("the sparkline has the usage of the whole limit and the level, with gaps where they are unknown", () => {
  const cut = { resource: "openai", level: 0.5, limits: [[100, 50, 25, 0, 0]] } as const;
  const points = [point(1), point(2, { resources: [cut] }), point(3, { resources: [] })];
  expect(sparkOf(points, "openai", 0)).toEqual({ used: [0.01, 0.25, null], level: [1, 0.5, null] });
  expect(sparkOf(points, "openai", 1).used).toEqual([null, null, null]);
});
