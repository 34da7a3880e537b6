import fc from "fast-check";
import { expect, test } from "vitest";
import { advance, isBefore, nextVirtualTime, type VirtualTime } from "./virtual-time.ts";

test("the agent that was served less is first; between equals a number that no agent chooses decides", () => {
  expect(isBefore({ virtualTime: 1, tie: 9 }, { virtualTime: 2, tie: 1 })).toBe(true);
  expect(isBefore({ virtualTime: 1, tie: 1 }, { virtualTime: 1, tie: 2 })).toBe(true);
  expect(isBefore({ virtualTime: 1, tie: 1 }, { virtualTime: 1, tie: 1 })).toBe(false);
});

test("an idle agent resumes at the swarm's virtual time and accumulates no credit", () => {
  const turns: VirtualTime = { own: 0.5, swarm: 3 };
  expect(nextVirtualTime(turns, 0)).toBe(3);
  advance(turns, 0.1, 1, 0);
  expect(turns).toEqual({ own: 3.1, swarm: 3 });
});

test("an agent slightly behind the swarm keeps its virtual time", () => {
  expect(nextVirtualTime({ own: 2.9, swarm: 3 }, 0.25)).toBe(2.9);
  const turns: VirtualTime = { own: 2.5, swarm: 3 };
  advance(turns, 0.5, 1, 0.25);
  expect(turns).toEqual({ own: 3.25, swarm: 3 });
});

test("a call sets its agent back by its size, but never by more than the maximum", () => {
  const turns: VirtualTime = { own: 2, swarm: 1 };
  advance(turns, 0.5, 10, 0);
  expect(turns).toEqual({ own: 2.5, swarm: 2 });
  advance(turns, 5, 0.2, 0);
  expect(turns).toEqual({ own: 2.7, swarm: 2.5 });
});

test("served by virtual time, agents get the same by weight, to one call", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ size: fc.integer({ min: 1, max: 30 }), weight: fc.integer({ min: 1, max: 4 }) }), {
        minLength: 2,
        maxLength: 6,
      }),
      (agents) => {
        const swarm = agents.map((agent) => ({ ...agent, turns: { own: 0, swarm: 0 }, got: 0 }));
        for (let i = 0; i < 2_000; i++) {
          const next = swarm.reduce((a, b) => (nextVirtualTime(b.turns, 0) < nextVirtualTime(a.turns, 0) ? b : a));
          advance(next.turns, next.size / next.weight, Infinity, 0);
          next.got += next.size / next.weight;
          for (const { turns } of swarm) turns.swarm = Math.max(turns.swarm, next.turns.swarm);
        }
        const got = swarm.map((agent) => agent.got);
        const largest = Math.max(...swarm.map(({ size, weight }) => size / weight));
        expect(Math.max(...got) - Math.min(...got)).toBeLessThanOrEqual(2 * largest + 1e-6);
      },
    ),
    { numRuns: 30 },
  );
});
