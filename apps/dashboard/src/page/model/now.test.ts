import { expect, test } from "vitest";
import { frame, point, resourceFrame } from "../../../test/support/frames.ts";
import { pointsUntilNow } from "./now.ts";

const hello = { title: "t", namespace: "n", controls: [], pointMs: 1_000, maxPoints: 3, maxTracked: 2, maxEvents: 1 };
const state = { hello, events: [], points: [point(1), point(2)] };

test("the current state becomes the last point, for resources that have a history", () => {
  const resources = [resourceFrame({ level: 0.5 }), resourceFrame({ resource: "untracked" })];
  const points = pointsUntilNow({ ...state, frame: frame({ at: 2_400, bus: "interrupted", resources }) });
  expect(points.map(({ at }) => at)).toEqual([1_000, 2_000, 2_400]);
  expect(points[2]).toMatchObject({ isBusReady: false, resources: [{ resource: "openai", level: 0.5 }] });
  expect(points[2]?.resources).toHaveLength(1);
});

test("no point is added at the time of the last point, nor without a history", () => {
  expect(pointsUntilNow({ ...state, frame: frame({ at: 2_000 }) })).toBe(state.points);
  expect(pointsUntilNow({ ...state, points: [], frame: frame() })).toEqual([]);
});
