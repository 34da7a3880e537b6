import { expect, test } from "vitest";
import { countExternalUsage } from "./external-usage.ts";
import { reconcile } from "./reconcile.ts";
import { step } from "./step.ts";
import { quotaIn, testAgent, WINDOW_MS, word } from "./test-agents.ts";
import { BINS } from "./usage-window.ts";

const BIN_MS = WINDOW_MS / BINS;
/** All usage is in the last bin, which expires within the next twelfth of the window. */
const old = Array.from({ length: BINS }, (_, b) => [b === BINS - 1 ? 300 : 0]);

function newcomer() {
  const agent = testAgent("a", {}, {}, 0);
  step(agent, { type: "receive", message: word("b", 1, {}, { spentTotal: [900], used: [300], bins: old }) }, 0);
  return agent;
}

test("usage that a peer reports as expired is dropped from the swarm's window", () => {
  const agent = newcomer();
  const quota = quotaIn(agent);
  expect(quota.usage.swarm.sum).toEqual([300]);
  const message = word("b", 2, {}, { spentTotal: [900], used: [120], bins: old });
  step(agent, { type: "receive", message }, BIN_MS / 2);
  reconcile(agent, quota, BIN_MS / 2);
  expect(quota.usage.swarm.sum).toEqual([120]);
});

test("own usage and unattributed usage stay", () => {
  const agent = newcomer();
  const quota = quotaIn(agent);
  quota.usage.swarm.add(100, [7]);
  quota.usage.own.add(100, [7]);
  countExternalUsage(agent, quota, [20], 100);
  reconcile(agent, quota, 200);
  expect(quota.usage.swarm.sum).toEqual([327]);
});

test("a report on another window does not change this one", () => {
  const agent = newcomer();
  const quota = quotaIn(agent);
  for (const peer of agent.membership.peers.values())
    for (const report of peer.quotas.values()) Object.assign(report, { windowMs: 1_000, used: [0] });
  reconcile(agent, quota, 100);
  expect(quota.usage.swarm.sum).toEqual([300]);
});

test("usage of a peer learned from join snapshots is not counted again when the peer reports it", () => {
  const agent = testAgent("a", {}, {}, 0);
  const quota = quotaIn(agent);
  const seen = Array.from({ length: BINS }, (_, b) => [b === 3 ? 400 : 0]);
  const hear = (message: ReturnType<typeof word>, now: number) => step(agent, { type: "receive", message }, now);
  hear(word("a", 1), 10);
  hear(word("b", 1, {}, { joinSnapshot: seen }), 20);
  hear(word("a", 2), 1_000);
  // The agent has joined and counts 400 of unattributed usage.
  for (let now = 200; now <= 1_400; now += 200) step(agent, { type: "wake" }, now);
  expect(quota.usage.swarm.sum).toEqual([400]);
  hear(word("c", 9, {}, { spentTotal: [400], used: [400], bins: seen }), 1_500);
  reconcile(agent, quota, 1_500);
  expect(quota.usage.swarm.sum).toEqual([400]);
  // The usage of an agent that started after this one cannot be the usage in the snapshot.
  hear(word("d", 1, { upMs: 500 }, { spentTotal: [5], used: [5], bins: [[5]] }), 1_600);
  reconcile(agent, quota, 1_600);
  expect(quota.usage.swarm.sum).toEqual([405]);
});
