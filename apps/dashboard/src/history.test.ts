import { expect, test } from "vitest";
import { frame, limitFrame, resourceFrame } from "../test/support/frames.ts";
import { use } from "../test/support/pretend-observer.ts";
import { History, MAX_POINTS, MAX_TRACKED } from "./history.ts";

const named = (resource: string) => resourceFrame({ resource });
const provider = (accepted: number, rejected429: number) => ({
  windowMs: 60_000,
  accepted,
  rejected429,
  usedRequests: 7,
  usedTokens: 70,
});

test("a point has the level, every limit and its longest wait of each resource", () => {
  const history = new History();
  const limits = [limitFrame({ used: 7, waiting: 2 }), limitFrame({ dimension: "tokens", limit: null, total: null })];
  const agents = [use("a"), use("b", { used: [30, 0], waiting: [2, 0] })];
  history.add(frame({ at: 5, bus: "interrupted", resources: [resourceFrame({ level: 0.5, limits, agents })] }));
  expect(history.since(0)).toEqual([
    {
      seq: 1,
      at: 5,
      members: 2,
      isBusReady: false,
      resources: [
        {
          resource: "openai",
          level: 0.5,
          limits: [
            [100, 100, 7, 2, 2_400],
            [null, null, 40, 0, 0],
          ],
        },
      ],
    },
  ]);
});

test("the history keeps only the last points", () => {
  const history = new History();
  for (let i = 0; i < MAX_POINTS + 5; i++) history.add(frame({ at: i }));
  const points = history.since(0);
  expect([points.length, points[0]?.at, points.at(-1)?.at]).toEqual([MAX_POINTS, 5, MAX_POINTS + 4]);
});

test("since() returns later points, and nothing after the last", () => {
  const history = new History();
  for (let i = 0; i < 5; i++) history.add(frame());
  expect(history.since(3).map(({ seq }) => seq)).toEqual([4, 5]);
  expect(history.since(history.lastSeq)).toEqual([]);
});

test("a limited number of resources is tracked, and one absent for the whole history is replaced", () => {
  const history = new History();
  const many = Array.from({ length: MAX_TRACKED }, (_, i) => named(`r${i}`));
  history.add(frame({ resources: [...many, named("late")] }));
  expect(history.since(0)[0]?.resources.map(({ resource }) => resource)).toEqual(many.map(({ resource }) => resource));
  for (let i = 0; i < MAX_POINTS; i++) history.add(frame({ resources: [...many.slice(1), named("late")] }));
  const last = history.since(history.lastSeq - 1)[0]?.resources.map(({ resource }) => resource);
  expect(last).toContain("late");
  expect(last).toHaveLength(MAX_TRACKED);
});

test("provider counts are differences per second, and never negative after a restart of the provider", () => {
  const history = new History();
  for (const [accepted, rejected] of [
    [100, 5],
    [120, 8],
    [3, 0],
  ] as const)
    history.add(frame({ provider: provider(accepted, rejected) }));
  expect(history.since(0).map((point) => [point.provider?.accepted, point.provider?.rejected429])).toEqual([
    [0, 0],
    [20, 3],
    [0, 0],
  ]);
});
