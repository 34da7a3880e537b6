import { describeOwnServer } from "@hivepace/servers/vitest";
import { describe, expect, test } from "vitest";
import { runProcessSwarm } from "./support/process-swarm.ts";

/**
 * Sixteen processes, a provider that enforces its limit, and typical faults. `docs/real-brokers.md` has the measured
 * figures; this test asserts only guarantees that hold at any speed of the machine.
 */
describe.each(["nats", "redis", "kafka"] as const)("a swarm of processes", (broker) => {
  describeOwnServer(broker, (server) => {
    test("stays within the limit, cuts together, and heals", async () => {
      const plan = { broker, agents: 16, limit: 200, windowMs: 5_000, calmMs: 4_000, awayMs: 4_000, stoppedMs: 4_000 };
      const { maxGranted, cuts, useWhileAway, use } = await runProcessSwarm(server(), plan);
      expect(maxGranted).toBeLessThan(1.15);
      expect(cuts).toBeGreaterThanOrEqual(1);
      expect(use).toBeGreaterThan(0);
      expect(useWhileAway).toBeGreaterThan(0);
    });
  });
});
