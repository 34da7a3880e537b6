import fc from "fast-check";
import { expect, test } from "vitest";
import { BINS, UsageWindow } from "./usage-window.ts";

const WINDOW_MS = 1_024;
const uses = fc.array(fc.record({ at: fc.integer({ min: 0, max: 3_000 }), amount: fc.integer({ min: 1, max: 50 }) }), {
  maxLength: 40,
});
const sum = (amounts: readonly number[]) => amounts.reduce((all, amount) => all + amount, 0);

function filled(all: readonly { readonly at: number; readonly amount: number }[]): UsageWindow {
  const window = new UsageWindow(1, WINDOW_MS);
  for (const { at, amount } of all) window.add(at, [amount]);
  return window;
}

test("usage counts for a window, up to a slot longer, in whatever order it is recorded", () => {
  fc.assert(
    fc.property(uses, fc.integer({ min: 3_000, max: 5_000 }), (all, now) => {
      const window = filled(all);
      window.expire(now);
      const within = (ms: number) => sum(all.filter(({ at }) => at > now - ms).map(({ amount }) => amount));
      expect(window.sum[0]).toBeGreaterThanOrEqual(within(WINDOW_MS));
      expect(window.sum[0]).toBeLessThanOrEqual(within(WINDOW_MS + 1));
    }),
  );
});

test("the lead of a steady rate is a number of 0 or more, also when usage has expired unnoticed", () => {
  fc.assert(
    fc.property(uses, fc.integer({ min: 3_000, max: 9_000 }), (all, now) => {
      const [lead = Number.NaN] = filled(all).largestLead([0.01], [2], now);
      expect(lead).toBeGreaterThanOrEqual(0);
    }),
  );
});

test("an amount has expired at the computed time, and not a moment before", () => {
  fc.assert(
    fc.property(uses, fc.integer({ min: 1, max: 500 }), (all, amount) => {
      const window = filled(all);
      const before = window.sum[0] as number;
      const at = window.goneAt([amount]);
      if (at === Infinity) {
        expect(before).toBeLessThan(amount);
        return;
      }
      expect(window.goneBy(at)[0]).toBeGreaterThanOrEqual(amount);
      expect(window.goneBy(at - 0.001)[0]).toBeLessThan(amount);
      window.expire(at);
      expect(before - (window.sum[0] as number)).toBeGreaterThanOrEqual(amount);
    }),
  );
});

test("bins hold the whole usage, the youngest first", () => {
  const window = filled([
    { at: 0, amount: 1 },
    { at: 1_000, amount: 2 },
  ]);
  const bins = window.bins(1_020).map(([amount]) => amount);
  expect(bins).toHaveLength(BINS);
  expect(bins[0]).toBe(2);
  expect(bins[BINS - 1]).toBe(1);
});

test("a correction reduces the usage that it corrects, and expires with it", () => {
  const window = filled([{ at: 100, amount: 10 }]);
  window.add(100, [-4]);
  expect(window.sum).toEqual([6]);
  expect(window.since(100)).toEqual([6]);
  window.expire(100 + WINDOW_MS + 1);
  expect(window.sum).toEqual([0]);
});

test("the oldest usage can be dropped, up to all of it", () => {
  const window = filled([
    { at: 0, amount: 3 },
    { at: 1_000, amount: 4 },
  ]);
  window.trim([5]);
  expect(window.sum).toEqual([2]);
  expect(window.since(1_000)).toEqual([2]);
  window.trim([9]);
  expect(window.sum).toEqual([0]);
});

test("expired usage is remembered for one more window, and not longer", () => {
  const window = new UsageWindow(1, 1_024);
  for (let time = 0; time < 4_096; time++) {
    window.add(time, [1]);
    window.expire(time);
  }
  const now = 4_095;
  expect(window.between(now - 1_024, now)).toEqual([1_024]);
  expect(window.between(now - 2_000, now - 1_000)).toEqual([1_000]);
  expect(window.sum).toEqual([1_025]);
  expect(window.between(-1, now)[0]).toBeLessThan(3_000);
  window.expire(now + 1_100);
  expect(window.sum).toEqual([0]);
  expect(window.between(now - 500, now)).toEqual([500]);
  window.expire(now + 2_100);
  expect(window.between(-1, now)).toEqual([0]);
});
