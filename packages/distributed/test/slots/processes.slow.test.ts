import { describeOwnServer } from "@hivepace/servers/vitest";
import { describe, expect, test } from "vitest";
import { runSlotProcesses } from "../support/slot-processes.ts";

/**
 * `docs/real-brokers.md` has the measured handover times; this test asserts only guarantees that hold at any speed of
 * the machine.
 */
describe.each(["nats", "redis"] as const)("12 processes share 5 slots", (broker) => {
  describeOwnServer(broker, (server) => {
    test("never more than 5 calls are under way, also when the broker is killed", async () => {
      const plan = { broker, agents: 12, slots: 5, callMs: [200, 3_000], calmMs: 20_000, awayMs: 10_000 } as const;
      const figures = await runSlotProcesses(server(), plan);
      if (process.env["HIVEPACE_FIGURES"]) process.stdout.write(`${broker}: ${JSON.stringify(figures)}\n`);
      expect(figures.most).toBeLessThanOrEqual(5);
      expect(figures.use).toBeGreaterThan(0.5);
      expect(figures.leastOfAgent).toBeGreaterThan(0);
    });
  });
});
