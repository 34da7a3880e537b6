import { expect, test } from "vitest";
import { usedElsewhere } from "./elsewhere.ts";
import { step } from "./step.ts";
import { poolIn, testAgent, WINDOW_MS, word } from "./test-agents.ts";
import { trueUp } from "./true-up.ts";
import { BINS } from "./use-window.ts";

const BIN_MS = WINDOW_MS / BINS;
/** Everything in the last bin: it leaves within the next twelfth of the window. */
const old = Array.from({ length: BINS }, (_, b) => [b === BINS - 1 ? 300 : 0]);

function newcomer() {
  const agent = testAgent("a", {}, {}, 0);
  step(agent, { type: "hear", message: word("b", 1, {}, { sent: [900], used: [300], bins: old }) }, 0);
  return agent;
}

test("what a peer says has left its window has left the window of all", () => {
  const agent = newcomer();
  const pool = poolIn(agent);
  expect(pool.used.sum).toEqual([300]);
  const message = word("b", 2, {}, { sent: [900], used: [120], bins: old });
  step(agent, { type: "hear", message }, BIN_MS / 2);
  trueUp(agent, pool, BIN_MS / 2);
  expect(pool.used.sum).toEqual([120]);
});

test("what this agent used itself, and what nobody has said to be his, stays", () => {
  const agent = newcomer();
  const pool = poolIn(agent);
  pool.used.add(100, [7]);
  pool.own.add(100, [7]);
  usedElsewhere(agent, pool, [20], 100);
  trueUp(agent, pool, 200);
  expect(pool.used.sum).toEqual([327]);
});

test("who speaks of another window says nothing about this one", () => {
  const agent = newcomer();
  const pool = poolIn(agent);
  for (const peer of agent.peers.values())
    for (const report of peer.pools.values()) Object.assign(report, { windowMs: 1_000, used: [0] });
  trueUp(agent, pool, 100);
  expect(pool.used.sum).toEqual([300]);
});

test("what others told of one who was not heard yet is not counted again when it is heard", () => {
  const agent = testAgent("a", {}, {}, 0);
  const pool = poolIn(agent);
  const seen = Array.from({ length: BINS }, (_, b) => [b === 3 ? 400 : 0]);
  const hear = (message: ReturnType<typeof word>, now: number) => step(agent, { type: "hear", message }, now);
  hear(word("a", 1), 10);
  hear(word("b", 1, {}, { seen }), 20);
  hear(word("a", 2), 1_000);
  // It has listened: 400 were used by somebody.
  for (let now = 200; now <= 1_400; now += 200) step(agent, { type: "wake" }, now);
  expect(pool.used.sum).toEqual([400]);
  hear(word("c", 9, {}, { sent: [400], used: [400], bins: seen }), 1_500);
  trueUp(agent, pool, 1_500);
  expect(pool.used.sum).toEqual([400]);
  // One that came after this agent cannot be the one that was seen.
  hear(word("d", 1, { upMs: 500 }, { sent: [5], used: [5], bins: [[5]] }), 1_600);
  trueUp(agent, pool, 1_600);
  expect(pool.used.sum).toEqual([405]);
});
