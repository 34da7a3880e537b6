import fc from "fast-check";
import { expect, test } from "vitest";
import { fairShares } from "./fair-shares.ts";

interface Asker {
  readonly demand: number;
  readonly weight: number;
}
const askers = fc.array(
  fc.record({ demand: fc.integer({ min: 0, max: 200 }), weight: fc.integer({ min: 1, max: 4 }) }),
  {
    minLength: 1,
    maxLength: 12,
  },
);
const capacities = fc.integer({ min: 0, max: 1_000 });
const shares = (capacity: number, all: readonly Asker[]) =>
  fairShares(
    capacity,
    all.map(({ demand }) => demand),
    all.map(({ weight }) => weight),
  );
const sum = (amounts: readonly number[]) => amounts.reduce((all, amount) => all + amount, 0);

/** Reference algorithm: distributes a drop at a time to the agent that has least by weight and still has demand. */
function poured(capacity: number, all: readonly Asker[], drop: number): number[] {
  const got = all.map(() => 0);
  for (let left = capacity; left > 0; left -= drop) {
    let least = -1;
    all.forEach(({ demand, weight }, i) => {
      const isThirsty = (got[i] as number) + drop / 2 < demand;
      if (
        isThirsty &&
        (least < 0 || (got[i] as number) / weight < (got[least] as number) / (all[least] as Asker).weight)
      )
        least = i;
    });
    if (least < 0) break;
    got[least] = (got[least] as number) + drop;
  }
  return got;
}

test.each([
  [100, [10, 20, 30], [10, 20, 30]],
  [30, [10, 20, 30], [10, 10, 10]],
  [45, [5, 100, 100], [5, 20, 20]],
  [0, [5, 5], [0, 0]],
  [3, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1], new Array(10).fill(0.3)],
])("%i among those who ask for %j is %j", (capacity, demands, expected) => {
  const got = fairShares(
    capacity,
    demands,
    demands.map(() => 1),
  );
  for (const [i, share] of got.entries()) expect(share).toBeCloseTo(expected[i] as number, 9);
});

test("a larger weight gives a larger share, but never more than the demand", () => {
  expect(fairShares(20, [100, 100], [1, 3])).toEqual([5, 15]);
  expect(fairShares(20, [100, 6], [1, 3])).toEqual([14, 6]);
});

test("shares are those of progressive filling", () => {
  fc.assert(
    fc.property(capacities, askers, (capacity, all) => {
      const exact = shares(capacity, all);
      const drop = 0.25;
      for (const [i, amount] of poured(capacity, all, drop).entries())
        expect(Math.abs(amount - (exact[i] as number))).toBeLessThanOrEqual(drop * 4 * all.length);
    }),
    { numRuns: 150 },
  );
});

test("no share exceeds its demand, the sum fits the capacity, and nothing is left while demand is unmet", () => {
  fc.assert(
    fc.property(capacities, askers, (capacity, all) => {
      const got = shares(capacity, all);
      for (const [i, share] of got.entries()) expect(share).toBeLessThanOrEqual((all[i] as Asker).demand + 1e-9);
      const wanted = sum(all.map(({ demand }) => demand));
      expect(sum(got)).toBeCloseTo(Math.min(capacity, wanted), 6);
    }),
  );
});

test("names and order do not matter", () => {
  fc.assert(
    fc.property(capacities, askers, fc.integer({ min: 0, max: 11 }), (capacity, all, by) => {
      const turned = [...all.slice(by % all.length), ...all.slice(0, by % all.length)].reverse();
      const sorted = (from: readonly Asker[]) => [...shares(capacity, from)].sort((a, b) => a - b);
      const [a, b] = [sorted(all), sorted(turned)];
      for (const [i, share] of a.entries()) expect(share).toBeCloseTo(b[i] as number, 9);
    }),
  );
});

test("inflated demand brings no useful capacity", () => {
  fc.assert(
    fc.property(capacities, askers, fc.integer({ min: 0, max: 1_000_000 }), (capacity, all, more) => {
      const [honest, ...others] = all as [Asker, ...Asker[]];
      const before = shares(capacity, all);
      const after = shares(capacity, [{ ...honest, demand: honest.demand + more }, ...others]);
      const useful = (share: number) => Math.min(share, honest.demand);
      expect(useful(after[0] as number)).toBeCloseTo(useful(before[0] as number), 6);
      // Agents that demand no more than their share lose nothing.
      const weights = sum(all.map(({ weight }) => weight));
      others.forEach(({ demand, weight }, i) => {
        if (demand <= (capacity * weight) / weights) expect(after[i + 1] as number).toBeCloseTo(demand, 6);
      });
    }),
  );
});
