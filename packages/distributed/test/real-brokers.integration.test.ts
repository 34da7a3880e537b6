import { describeOwnServer } from "@hivepace/servers/vitest";
import { describe, expect, test } from "vitest";
import { runProcessSwarm } from "./support/process-swarm.ts";

/**
 * Sixteen processes, a provider that enforces its limit, and all that happens to swarms. How fast and how well is in
 * `docs/real-brokers.md`; here only what must hold on the busiest machine.
 */
describe.each(["nats", "redis", "kafka"] as const)("a swarm of processes", (broker) => {
  describeOwnServer(broker, (server) => {
    test("stays within the limit, cuts once and together, and heals", { timeout: 180_000 }, async () => {
      const plan = { broker, agents: 16, limit: 200, windowMs: 5_000, calmMs: 4_000, awayMs: 4_000, stoppedMs: 4_000 };
      const { max, cuts, refused, sent, useWhileAway, use } = await runProcessSwarm(server(), plan);
      expect(max).toBeLessThan(1.15);
      expect(cuts).toBeGreaterThanOrEqual(1);
      expect(refused / sent).toBeLessThan(0.05);
      expect(use).toBeGreaterThan(0.3);
      expect(useWhileAway).toBeGreaterThan(0);
    });
  });
});
