import { expect, test } from "vitest";
import { logged, point } from "../../../test/support/frames.ts";
import { admitted, answers, cutTimes, levels, outages, timeRange, waits } from "./series.ts";

const provider = { accepted: 4, rejected429: 1, usedRequests: 9, usedTokens: 900 };

test("columns for admitted, allowed, limit and the provider's count, with null for unknown values", () => {
  const points = [
    point(1, { resources: [] }),
    point(2, {
      provider,
      resources: [
        {
          resource: "openai",
          level: 0.5,
          limits: [
            [100, 50, 7, 0, 0],
            [null, null, 700, 0, 0],
          ],
        },
      ],
    }),
  ];
  expect(admitted(points, "openai", 0, "requests")).toEqual([
    [1, 2],
    [null, 7],
    [null, 50],
    [null, 100],
    [null, 9],
  ]);
  expect(admitted(points, "openai", 1, "tokens")).toEqual([
    [1, 2],
    [null, 700],
    [null, null],
    [null, null],
    [null, 900],
  ]);
  expect(admitted(points, "openai", 0, "inputTokens")[4]).toEqual([null, null]);
  expect(admitted(points, "other", 0, "requests")[1]).toEqual([null, null]);
});

test("levels are percentages, waits are seconds, answers are per second", () => {
  const points = [
    point(1, { provider, resources: [{ resource: "openai", level: 0.5, limits: [[1, 1, 1, 6, 1_500]] }] }),
  ];
  expect(levels(points, "openai")).toEqual([[1], [50]]);
  expect(waits(points, "openai", 0)).toEqual([[1], [6], [1.5]]);
  expect(answers(points)).toEqual([[1], [4], [1]]);
  expect(answers([point(1)])).toEqual([[1], [null], [null]]);
});

test("an outage ends at the first point at which the bus was ready again", () => {
  const up = (seq: number) => point(seq);
  const down = (seq: number) => point(seq, { isBusReady: false });
  expect(outages([up(1), down(2), down(3), up(4), up(5), down(6)])).toEqual([
    [2, 4],
    [6, 6],
  ]);
  expect(outages([up(1)])).toEqual([]);
});

test("only cuts, pauses and announcements of this resource are marked", () => {
  const cut = { type: "cut", resource: "r", agentId: "a", reason: "", level: 0.5, newCapacity: 1 } as const;
  const pause = { type: "paused", resource: "r", agentId: "a", reason: "", pausedForMs: 1 } as const;
  const update = { agentId: "a", resource: "r", newCapacity: 9, reason: "429", timestamp: new Date(0) };
  const events = [
    logged(1, cut),
    logged(2, { ...cut, resource: "other" }),
    logged(3, pause),
    logged(4, { type: "announced", update }),
    logged(5, { type: "raised", resource: "r", level: 1, newCapacity: 1 }),
  ];
  expect(cutTimes(events, "r")).toEqual([1, 3, 4]);
});

test("a chart shows the whole history, and at least two minutes", () => {
  expect(timeRange([], 1_000)).toEqual([880, 1_000]);
  expect(timeRange([990, 1_000], 1_000)).toEqual([880, 1_000]);
  expect(timeRange([400, 1_000], 1_000)).toEqual([400, 1_000]);
});
