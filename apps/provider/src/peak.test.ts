import { expect, test } from "vitest";
import { Peak } from "./peak.ts";

test("what came in a window counts against the limit, accepted or not, and what is a window old does not", () => {
  const peak = new Peak(1_000, { rpm: 4, tpm: 100 });
  for (const at of [0, 100, 200]) peak.add(10, at);
  expect(peak.ratio).toBe(0.75);
  peak.add(10, 1_000);
  expect(peak.ratio).toBe(0.75);
  peak.add(90, 1_050);
  expect(peak.ratio).toBeCloseTo(1.2);
});

test("of two limits within one window the larger one counts; after a window, the new one alone", () => {
  const peak = new Peak(1_000, { rpm: 10 });
  for (let i = 0; i < 8; i++) peak.add(1, i);
  peak.setLimits({ rpm: 4 }, 10);
  peak.add(1, 20);
  expect(peak.ratio).toBe(0.9);
  for (let i = 0; i < 5; i++) peak.add(1, 1_100 + i);
  expect(peak.ratio).toBe(1.25);
});

test("a limit that is raised counts at once, one that is left out stays", () => {
  const peak = new Peak(1_000, { rpm: 2, tpm: 50 });
  peak.setLimits({ rpm: 4 }, 0);
  for (let i = 1; i <= 4; i++) peak.add(10, i);
  expect(peak.ratio).toBe(1);
});

test("a long run takes no more room than its window, and sums right", () => {
  const peak = new Peak(1_000, { rpm: 100 });
  for (let at = 0; at < 1_000_000; at += 20) peak.add(1, at);
  expect(peak.ratio).toBe(0.5);
  for (let i = 0; i < 100; i++) peak.add(1, 1_000_000);
  expect(peak.ratio).toBe(1.49);
});
