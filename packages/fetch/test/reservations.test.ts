import { expect, test } from "vitest";
import { WORKLOADS } from "./support/reservation-workloads.ts";
import { reservationsOf } from "./support/reservation-world.ts";

test.each(WORKLOADS)("$name", async ({ of }) => {
  const { utilization, overshoot } = await reservationsOf(of({ scale: 0.25, minutes: 2 }));
  expect(utilization).toBeGreaterThanOrEqual(0.9);
  expect(overshoot).toBeLessThanOrEqual(1.05);
});
