import fc from "fast-check";
import { expect, test } from "vitest";
import { isBefore, nextTurn, serve, type Turns } from "./turn.ts";

test("whoever was served less is before the other; between equals a number decides that no name gives", () => {
  expect(isBefore({ turn: 1, tie: 9 }, { turn: 2, tie: 1 })).toBe(true);
  expect(isBefore({ turn: 1, tie: 1 }, { turn: 1, tie: 2 })).toBe(true);
  expect(isBefore({ turn: 1, tie: 1 }, { turn: 1, tie: 1 })).toBe(false);
});

test("who wanted nothing for a while starts where the line is: turns cannot be saved up", () => {
  const turns: Turns = { own: 0.5, line: 3 };
  expect(nextTurn(turns, 0)).toBe(3);
  serve(turns, 0.1, 1, 0);
  expect(turns).toEqual({ own: 3.1, line: 3 });
});

test("who is only a little behind the line keeps its turn", () => {
  expect(nextTurn({ own: 2.9, line: 3 }, 0.25)).toBe(2.9);
  const turns: Turns = { own: 2.5, line: 3 };
  serve(turns, 0.5, 1, 0.25);
  expect(turns).toEqual({ own: 3.25, line: 3 });
});

test("a call sets its agent back by its size, but never by more than the most", () => {
  const turns: Turns = { own: 2, line: 1 };
  serve(turns, 0.5, 10, 0);
  expect(turns).toEqual({ own: 2.5, line: 2 });
  serve(turns, 5, 0.2, 0);
  expect(turns).toEqual({ own: 2.7, line: 2.5 });
});

test("served by turns, agents get the same by weight, to one call", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ size: fc.integer({ min: 1, max: 30 }), weight: fc.integer({ min: 1, max: 4 }) }), {
        minLength: 2,
        maxLength: 6,
      }),
      (agents) => {
        const line = agents.map((agent) => ({ ...agent, turns: { own: 0, line: 0 }, got: 0 }));
        for (let i = 0; i < 2_000; i++) {
          const next = line.reduce((a, b) => (nextTurn(b.turns, 0) < nextTurn(a.turns, 0) ? b : a));
          serve(next.turns, next.size / next.weight, Infinity, 0);
          next.got += next.size / next.weight;
          for (const { turns } of line) turns.line = Math.max(turns.line, next.turns.line);
        }
        const got = line.map((agent) => agent.got);
        const largest = Math.max(...line.map(({ size, weight }) => size / weight));
        expect(Math.max(...got) - Math.min(...got)).toBeLessThanOrEqual(2 * largest + 1e-6);
      },
    ),
    { numRuns: 30 },
  );
});
