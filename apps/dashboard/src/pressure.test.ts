import { expect, test } from "vitest";
import { limitFrame, resourceFrame } from "../test/support/frames.ts";
import { bindingLimit, byPressure, conditionOf, usedPart } from "./pressure.ts";
import type { ResourceFrame } from "./wire.ts";

const named = (resource: string, change: Partial<ResourceFrame> = {}) => resourceFrame({ resource, ...change });
const used = (part: number, waiting = 0) => ({ limits: [limitFrame({ used: 100 * part, waiting })] });

test("endpoints are ordered by their condition, the worst first", () => {
  const all = [
    named("calm", used(0.1)),
    named("half", used(0.5)),
    named("full", used(0.95)),
    named("reduced", { level: 0.5, ...used(0.1) }),
    named("queueing", used(0.2, 3)),
    named("queueing and fuller", used(0.9, 1)),
    named("paused", { pausedForMs: 1, ...used(0) }),
  ];
  expect(all.sort(byPressure).map(({ resource }) => resource)).toEqual([
    "paused",
    "queueing and fuller",
    "queueing",
    "reduced",
    "full",
    "half",
    "calm",
  ]);
});

test("endpoints of about equal usage are ordered by name, so that rows do not jump", () => {
  const [a, b] = [named("a", used(0.51)), named("b", used(0.53))];
  expect([b, a].sort(byPressure)).toEqual([a, b]);
});

test("the binding dimension has the most usage and queue relative to its current limit", () => {
  const unlimited = limitFrame({ limit: null, total: null, used: 1e9 });
  const [requests, tokens] = [limitFrame({ used: 40, total: 50 }), limitFrame({ used: 30, waiting: 60 })];
  expect(bindingLimit([unlimited, requests, tokens])).toBe(2);
  expect(bindingLimit([unlimited, requests])).toBe(1);
  expect(bindingLimit([unlimited])).toBe(0);
  expect(bindingLimit([])).toBe(0);
});

test("without a limit the used part is undefined, and a limit of 0 is fully used", () => {
  expect(usedPart({ used: 5, total: null })).toBeUndefined();
  expect(usedPart({ used: 0, total: 0 })).toBe(1);
  expect(conditionOf(named("a", { limits: [] }))).toBe("fine");
});
