import { expect, test } from "vitest";
import type { Figures } from "./figures.ts";
import { type Ending, judge } from "./verdict.ts";

const figures: Figures = {
  limit: { rpm: 300, tpm: 600_000, windowMs: 60_000 },
  speed: 6,
  sent: 800,
  accepted: 795,
  rejected429: 5,
  utilization: 0.9,
  maxWindowRatio: 0.95,
  jain: 0.99,
  reductions: 1,
  recoveries: 1,
  agents: 8,
  bus: "memory",
  scenario: "cut",
  seed: 1,
};
const good: Ending = { isTogether: true, isRecovered: true, isWhole: true };

test.each<[string, Partial<Figures>, Partial<Ending>, boolean]>([
  ["all is well", {}, {}, true],
  ["nothing happened", { reductions: 0, recoveries: 0 }, {}, true],
  ["a little above, as when a machine stands still", { maxWindowRatio: 1.1 }, {}, true],
  ["above the limit", { maxWindowRatio: 1.11 }, {}, false],
  ["where a minute is short half a second counts more", { maxWindowRatio: 1.2, speed: 24 }, {}, true],
  ["but not everything goes", { maxWindowRatio: 1.21, speed: 24 }, {}, false],
  ["some are still reduced", {}, { isRecovered: false }, false],
  ["some do not know all others", {}, { isWhole: false }, false],
  ["those who do not share need not find together", {}, { isTogether: false, isWhole: false }, true],
  ["but they have to keep the limit", { maxWindowRatio: 3 }, { isTogether: false }, false],
])("%s", (_, change, ending, isRight) => {
  expect(judge({ ...figures, ...change }, { ...good, ...ending }).isRight).toBe(isRight);
});

test.each<[Partial<Figures>, Partial<Ending>, string]>([
  [{}, {}, "The limit held: the most that was sent in any minute was 95.0 % of it."],
  [{ maxWindowRatio: 1 }, {}, "The limit held: the most that was sent in any minute was 100.0 % of it."],
  [
    { maxWindowRatio: 1.04 },
    {},
    "The limit held within the tolerance for pauses of the machine: 104.0 % of it was sent in one minute.",
  ],
  [{ maxWindowRatio: 2.5 }, {}, "The limit was exceeded: in one minute 250.0 % of it was sent."],
  [{ reductions: 2, recoveries: 1 }, {}, "The swarm cut back twice and recovered once."],
  [{ reductions: 0 }, {}, "No agent had to cut back."],
  [{}, { isRecovered: false }, "The swarm did not recover: some agents are still below their limit."],
  [{}, { isWhole: false }, "The membership did not recover: not every agent knows all others."],
  [{}, { othersServed: 0.987 }, "The quiet agents got 98.7 % of their demand."],
  [{}, { isTogether: false }, "5 of 800 requests were refused: the agents do not know each other's usage."],
])("the verdict says so: %j %j", (change, ending, sentence) => {
  expect(judge({ ...figures, ...change }, { ...good, ...ending }).sentences).toContain(sentence);
});
