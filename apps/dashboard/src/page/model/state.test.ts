import { expect, test } from "vitest";
import { frame, limitFrame, logged, point, resourceFrame } from "../../../test/support/frames.ts";
import { begin, chosenLimit, chosenResource, next } from "./state.ts";

const hello = { title: "t", namespace: "n", controls: [], pointMs: 1_000, maxPoints: 3, maxTracked: 2, maxEvents: 1 };
const nothing = { resource: undefined, isKey: false, limit: undefined, agentId: undefined };
const left = logged(1, { type: "left", agentId: "a" });

test("a page keeps no more history than the server", () => {
  let state = begin({ ...hello, update: { frame: frame(), points: [point(1), point(2)], events: [left] } });
  state = next(state, { frame: frame({ members: 9 }), points: [point(3), point(4)], events: [left, left] });
  expect(state.points.map(({ seq }) => seq)).toEqual([2, 3, 4]);
  expect([state.events.length, state.frame.members, state.hello.title]).toEqual([2, 9, "t"]);
});

test("a vanished resource is replaced by the worst one, and keys are distinct from endpoints of the same name", () => {
  const worst = resourceFrame({ pausedForMs: 1_000 });
  const resources = [resourceFrame({ resource: "b" }), worst];
  const keys = [resourceFrame({ resource: "b", isKey: true })];
  expect(chosenResource(frame({ resources, keys }), { resource: "b", isKey: true })).toBe(keys[0]);
  expect(chosenResource(frame({ resources }), { ...nothing, resource: "b" })?.resource).toBe("b");
  expect(chosenResource(frame({ resources }), { ...nothing, resource: "gone" })?.resource).toBe("openai");
  expect(chosenResource(frame({ resources: [] }), nothing)).toBeUndefined();
});

test("the default limit is the binding one", () => {
  const free = limitFrame({ limit: null, total: null });
  expect(chosenLimit(resourceFrame({ limits: [free, limitFrame()] }), nothing)).toBe(1);
  expect(chosenLimit(resourceFrame({ limits: [free, limitFrame()] }), { ...nothing, limit: 0 })).toBe(0);
  expect(chosenLimit(resourceFrame({ limits: [limitFrame()] }), { ...nothing, limit: 3 })).toBe(0);
  expect(chosenLimit(resourceFrame({ limits: [free] }), nothing)).toBe(0);
  expect(chosenLimit(undefined, nothing)).toBe(0);
});
