import { expect, test } from "vitest";
import { frame, limitFrame, logged, point, resourceFrame } from "../../../test/support/frames.ts";
import { begin, chosenLimit, chosenResource, next } from "./state.ts";

const hello = { title: "t", namespace: "n", controls: [], pointMs: 1_000, maxPoints: 3, maxTracked: 2, maxEvents: 1 };
const nothing = { resource: undefined, limit: undefined, agentId: undefined };
const left = logged(1, { type: "left", agentId: "a" });

test("a page keeps no more of the past than the server does", () => {
  let state = begin({ ...hello, update: { frame: frame(), points: [point(1), point(2)], events: [left] } });
  state = next(state, { frame: frame({ members: 9 }), points: [point(3), point(4)], events: [left, left] });
  expect(state.points.map(({ seq }) => seq)).toEqual([2, 3, 4]);
  expect([state.events.length, state.frame.members, state.hello.title]).toEqual([2, 9, "t"]);
});

test("a resource that is gone gives way to the first", () => {
  const resources = [resourceFrame(), resourceFrame({ resource: "b" })];
  expect(chosenResource(frame({ resources }), { ...nothing, resource: "b" })?.resource).toBe("b");
  expect(chosenResource(frame({ resources }), { ...nothing, resource: "gone" })?.resource).toBe("openai");
  expect(chosenResource(frame({ resources: [] }), nothing)).toBeUndefined();
});

test("without a choice it is the first limit that is one", () => {
  const free = limitFrame({ limit: null });
  expect(chosenLimit(resourceFrame({ limits: [free, limitFrame()] }), nothing)).toBe(1);
  expect(chosenLimit(resourceFrame({ limits: [free, limitFrame()] }), { ...nothing, limit: 0 })).toBe(0);
  expect(chosenLimit(resourceFrame({ limits: [limitFrame()] }), { ...nothing, limit: 3 })).toBe(0);
  expect(chosenLimit(resourceFrame({ limits: [free] }), nothing)).toBe(0);
  expect(chosenLimit(undefined, nothing)).toBe(0);
});
