import { describe, expect, test } from "vitest";
import type { Agent } from "./agent.ts";
import { wholeShares } from "./slots.ts";
import { step } from "./step.ts";
import { quotaIn, testAgent, word } from "./test-agents.ts";

const slots = { limits: [5], dimensions: ["in_flight"], leaseMs: 60_000 };
const held = {
  limits: [5],
  dimensions: ["in_flight"],
  spentTotal: [3],
  used: [3],
  bins: [[3]],
  heldMs: 0,
  endsMs: 30_000,
};

function used(agent: Agent, now: number): number {
  step(agent, { type: "wake" }, now);
  return quotaIn(agent).usage.swarm.sum[0] as number;
}

/** Delivers the agent's own messages back to it, as a working bus does, until `until`. */
function live(agent: Agent, from: number, until: number): void {
  for (let now = from; now <= until; now += 500) {
    const { publish } = step(agent, { type: "wake" }, now);
    if (publish) step(agent, { type: "receive", message: publish }, now);
  }
}

function agentWithPeer(): Agent {
  const agent = testAgent("a", {}, slots);
  live(agent, 0, 5_000);
  step(agent, { type: "receive", message: word("b", 1, {}, held) }, 5_000);
  return agent;
}

describe("the slots of a peer", () => {
  test("count from its report, until it reports fewer", () => {
    const agent = agentWithPeer();
    expect(used(agent, 5_000)).toBe(3);
    step(
      agent,
      { type: "receive", message: word("b", 2, {}, { ...held, refundedTotal: [2], used: [1], bins: [[1]] }) },
      5_100,
    );
    expect(used(agent, 5_100)).toBe(1);
  });

  test("stay held after its goodbye until its last known calls have ended", () => {
    const agent = agentWithPeer();
    step(agent, { type: "receive", message: word("b", 2, { bye: true }, held) }, 6_000);
    live(agent, 6_500, 35_500);
    expect(used(agent, 35_500)).toBe(3);
    live(agent, 36_000, 37_000);
    expect(used(agent, 37_000)).toBe(0);
  });

  test("stay held after a crash until its last known calls have ended", () => {
    const agent = agentWithPeer();
    live(agent, 5_500, 34_500);
    expect(used(agent, 34_500)).toBe(3);
    live(agent, 35_000, 36_000);
    expect(used(agent, 36_000)).toBe(0);
  });

  test("are those of its next incarnation, in addition to the calls of the previous one", () => {
    const agent = agentWithPeer();
    const again = { ...held, spentTotal: [1], used: [1], bins: [[1]] };
    step(agent, { type: "receive", message: word("b", 1, { incarnation: 2 }, again) }, 6_000);
    expect(used(agent, 6_000)).toBe(4);
  });

  test("never exceed the limit, whatever the peer reports", () => {
    const agent = agentWithPeer();
    step(agent, { type: "receive", message: word("b", 2, {}, { ...held, spentTotal: [1e15], used: [1e15] }) }, 6_000);
    expect(used(agent, 6_000)).toBe(5);
  });
});

test.each([
  [[0.25, 0.25, 0.25, 0.25], [3, 1, 2, 4], 1, [0, 1, 0, 0]],
  [[1.5, 1.5], [2, 1], 3, [1, 2]],
  [[2, 1], [1, 2], 3, [2, 1]],
  [[0.9, 0.1], [2, 1], 1, [1, 0]],
])("shares of %j are whole slots for the agents", (shares, order, most, whole) => {
  expect(wholeShares(shares, order, most)).toEqual(whole);
});
