import { expect, test } from "vitest";
import { Peak } from "./peak.ts";

test("all requests of a window count, accepted or not, and a request exactly one window old does not", () => {
  const peak = new Peak(1_000, { rpm: 4, tpm: 100 });
  for (const at of [0, 100, 200]) peak.add(10, at);
  expect(peak.ratio).toBe(0.75);
  peak.add(10, 1_000);
  expect(peak.ratio).toBe(0.75);
  peak.add(90, 1_050);
  expect(peak.ratio).toBeCloseTo(1.2);
});

test("within a window after a change the larger limit counts, later only the new one", () => {
  const peak = new Peak(1_000, { rpm: 10 });
  for (let i = 0; i < 8; i++) peak.add(1, i);
  peak.setLimits({ rpm: 4 }, 10);
  peak.add(1, 20);
  expect(peak.ratio).toBe(0.9);
  for (let i = 0; i < 5; i++) peak.add(1, 1_100 + i);
  expect(peak.ratio).toBe(1.25);
});

test("a raised limit counts at once, and a limit left out is unchanged", () => {
  const peak = new Peak(1_000, { rpm: 2, tpm: 50 });
  peak.setLimits({ rpm: 4 }, 0);
  for (let i = 1; i <= 4; i++) peak.add(10, i);
  expect(peak.ratio).toBe(1);
});

test("memory is bounded by the window, and sums stay correct", () => {
  const peak = new Peak(1_000, { rpm: 100 });
  for (let at = 0; at < 1_000_000; at += 20) peak.add(1, at);
  expect(peak.ratio).toBe(0.5);
  for (let i = 0; i < 100; i++) peak.add(1, 1_000_000);
  expect(peak.ratio).toBe(1.49);
});
