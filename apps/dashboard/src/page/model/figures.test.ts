import { expect, test } from "vitest";
import { frame, limitFrame, resourceFrame } from "../../../test/support/frames.ts";
import { agent, use } from "../../../test/support/pretend-observer.ts";
import type { Frame, ResourceFrame } from "../../wire.ts";
import { figuresOf } from "./figures.ts";

function figure(label: string, resource?: ResourceFrame, change: Partial<Frame> = {}) {
  const found = figuresOf(frame(change), resource, 0).find((one) => one.label === label);
  return [found?.value, found?.about, found?.tone];
}
const waits = resourceFrame({
  limits: [limitFrame({ waiting: 7 })],
  agents: [use("a", { waiting: [1] }), use("b")],
});
const provider = { windowMs: 1, accepted: 1, rejected429: 2, usedRequests: 0, usedTokens: 0 };
const gone = [agent("a", { state: "silent" }), agent("b", { state: "left" })];

test.each([
  ["Agents", undefined, {}, ["2", "all of them heard", undefined]],
  ["Agents", undefined, { members: 0, agents: [] }, ["0", "nobody heard yet", undefined]],
  ["Agents", undefined, { members: 0, agents: gone }, ["0", "1 silent, 1 left", "warn"]],
  ["Admitted", resourceFrame(), {}, ["40", "of 100 requests a minute", undefined]],
  [
    "Admitted",
    resourceFrame({ limits: [limitFrame({ limit: null, total: null })] }),
    {},
    ["40", "requests a minute, no limit", undefined],
  ],
  ["Admitted", undefined, {}, ["–", "no limit heard", undefined]],
  ["Level", resourceFrame(), {}, ["100 %", "the whole limit", "good"]],
  ["Level", resourceFrame({ level: 0.5, risesInMs: 12_000 }), {}, ["50 %", "of the limit, rises in 12 s", "warn"]],
  ["Level", resourceFrame({ level: 1, pausedForMs: 3_000 }), {}, ["100 %", "all pause for 3 s", "bad"]],
  ["Waiting", resourceFrame(), {}, ["0", "nobody waits", undefined]],
  ["Waiting", waits, {}, ["7", "up to about 1.2 s", undefined]],
  ["429s", resourceFrame(), { provider }, ["2", "1 request accepted", "bad"]],
  ["429s", resourceFrame(), { provider: { ...provider, rejected429: 0 } }, ["0", "1 request accepted", "good"]],
  ["429s", resourceFrame(), {}, [undefined, undefined, undefined]],
] as const)("%s of %#", (label, resource, change, expected) => {
  expect(figure(label, resource, change)).toEqual(expected);
});
