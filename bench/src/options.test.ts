import { expect, test } from "vitest";
import { parseOptions } from "./options.ts";

test("without arguments every suite runs in full", () => {
  const { suites, parameters, strict } = parseOptions([]);
  expect(suites).toEqual([]);
  expect(parameters).toEqual({ quick: false, rounds: 15, warmUpRounds: 4, sliceMs: 30, seed: 1 });
  expect(strict).toBe(false);
});

test("explicit options take precedence over those that --quick implies", () => {
  expect(parseOptions(["--quick"]).parameters.rounds).toBe(5);
  expect(parseOptions(["--", "--quick", "--rounds", "9"]).parameters.rounds).toBe(9);
});

test("a suite may be given several times", () => {
  expect(parseOptions(["--suite", "a", "--suite", "b"]).suites).toEqual(["a", "b"]);
});

test.each([["--rounds", "0"], ["--rounds", "many"], ["--seed", "1.5"], ["--unheard-of"]])(
  "%s %s is refused",
  (...args) => {
    expect(() => parseOptions(args)).toThrow();
  },
);
