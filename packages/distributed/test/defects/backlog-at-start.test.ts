import { expect, test } from "vitest";
import { simulateSwarm } from "../../src/testing/simulate-swarm.ts";

/**
 * Agents that started together with a backlog opened their first claims before receiving each other's. Each considered
 * itself the only claimant and claimed half of the limit: two agents were served per window, and the others waited.
 */
test.each(["hive", "limiter"] as const)(
  "agents that start together with a backlog are all served: %s",
  async (drive) => {
    const { served, jain, max } = await simulateSwarm({
      seed: 1,
      agents: 6,
      limits: { requests: 600 },
      demand: { load: 0, bursts: [{ at: 0, load: 6 }], maxQueue: 5_000 },
      duration: 60_000,
      measureFrom: 0,
      drive,
    });
    expect(max).toBeLessThanOrEqual(1);
    expect(Math.min(...served)).toBeGreaterThan(0.08);
    expect(jain).toBeGreaterThan(0.9);
  },
);
