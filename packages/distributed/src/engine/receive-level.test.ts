import { expect, test } from "vitest";
import { FULL } from "./level.ts";
import { step } from "./step.ts";
import { quotaIn, testAgent, word } from "./test-agents.ts";

const EPOCH = 5_000;
const level = {
  ...FULL,
  recoveryIntervalMs: 30_000,
  epoch: EPOCH,
  levelAtCut: 0.5,
  cutAt: 0,
  pausedAt: 0,
  origin: "b",
};

/** An agent that has finished joining and receives its own messages. */
const member = () => {
  const agent = testAgent("a");
  for (let now = 0; now <= 10_000; now += 250) {
    const { publish } = step(agent, { type: "wake" }, now);
    if (publish) step(agent, { type: "receive", message: publish }, now);
  }
  return agent;
};

test("a level thousands of cuts ahead is accepted when it is repeated for a while", () => {
  const agent = member();
  for (let seq = 1; seq <= 3; seq++) {
    expect(quotaIn(agent).backoff.level.epoch).toBe(0);
    step(agent, { type: "receive", message: word("b", seq, {}, { level }) }, 10_000 + 1_000 * (seq - 1));
  }
  expect(quotaIn(agent).backoff.level.epoch).toBe(EPOCH);
});

test("a level thousands of cuts ahead is ignored when it differs each time", () => {
  const agent = member();
  for (let seq = 1; seq <= 10; seq++) {
    const ahead = { ...level, epoch: seq * EPOCH };
    step(agent, { type: "receive", message: word("b", seq, {}, { level: ahead }) }, 10_000 + 1_000 * seq);
  }
  expect(quotaIn(agent).backoff.level).toBe(FULL);
});

test("a joining agent accepts such a level at once, because it cannot know what it missed", () => {
  const agent = testAgent("a");
  step(agent, { type: "receive", message: word("b", 1, {}, { level }) }, 500);
  expect(quotaIn(agent).backoff.level.epoch).toBe(EPOCH);
});

test("a level without an epoch is ignored: its other fields could not be read", () => {
  const agent = testAgent("a");
  step(agent, { type: "announced", quota: "p", level: { ...level, epoch: 0 } }, 500);
  expect(quotaIn(agent).backoff.level).toBe(FULL);
});
