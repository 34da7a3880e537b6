import { describe, expect, test } from "vitest";
import { quotaIn, TestSwarm, testAgent } from "./test-agents.ts";

/** Two enforcing agents and one that observes, all joined. The last one sends `perSecond` calls for `seconds`. */
function observed(perSecond: number, seconds: number, observes = true) {
  const agents = [testAgent("a"), testAgent("b"), testAgent("c", { observes })];
  const swarm = new TestSwarm(agents);
  swarm.pass(3_000);
  const observer = agents[2] as (typeof agents)[number];
  send(seconds);
  return { swarm, quota: quotaIn(agents[0] as (typeof agents)[number]), send };

  function send(seconds: number): void {
    for (let i = 0; i < seconds; i++) {
      swarm.do(observer, { type: "settle", quota: "p", more: [perSecond], sentAt: swarm.now });
      swarm.pass(1_000);
    }
  }
}

describe("capacity for peers that observe", () => {
  test("in a window that has just begun to fill, the rest of their window is left free", () => {
    const { quota } = observed(5, 30);
    // 300 calls in a window, of which 150 were sent; and two standard deviations.
    expect(quota.heldForObservers[0]).toBeGreaterThan(140);
    expect(quota.heldForObservers[0]).toBeLessThan(210);
  });

  test("nearly nothing is left free while as much usage leaves the window", () => {
    const { quota } = observed(5, 90);
    expect(quota.heldForObservers[0]).toBeLessThan(25);
  });

  test("nothing is left free beyond the limit, nor for an observer that is gone", () => {
    const { quota, swarm } = observed(50, 18);
    expect(quota.usage.swarm.sum[0]).toBe(900);
    expect(quota.heldForObservers[0]).toBeCloseTo(90, 0);
    swarm.gone.add(swarm.agents[2] as (typeof swarm.agents)[number]);
    swarm.pass(10_000);
    expect(quota.heldForObservers).toEqual([0]);
  });

  test("the first calls after a pause of a window are measured like any others", () => {
    const { quota, swarm, send } = observed(5, 3);
    for (const seconds of [59, 64, 75, 90]) {
      swarm.pass(seconds * 1_000);
      send(2);
      expect(quota.heldForObservers[0]).toBeGreaterThan(0);
      expect(quota.heldForObservers[0]).toBeLessThan(1_000);
    }
  });

  test("nothing is left free for peers that enforce", () => {
    expect(observed(5, 30, false).quota.heldForObservers).toEqual([0]);
  });
});
