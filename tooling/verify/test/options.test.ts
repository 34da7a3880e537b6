import { expect, test } from "vitest";
import { parseOptions } from "../src/options.ts";

test("without options everything is selected, and nothing is bounded by time", () => {
  expect(parseOptions([])).toMatchObject({ isQuick: false, only: [], minutes: undefined, shard: { index: 1, of: 1 } });
});

test("every option is understood", () => {
  const args = ["--", "--minutes", "0.5", "--seed", "0", "--only", "a", "--only", "b", "--shard", "2/3"];
  expect(parseOptions([...args, "--workers", "4", "--quick", "--list", "--verbose"])).toEqual({
    isQuick: true,
    only: ["a", "b"],
    minutes: 0.5,
    seed: 0,
    workers: 4,
    shard: { index: 2, of: 3 },
    isList: true,
    isVerbose: true,
  });
  expect(parseOptions(["--help"])).toBeUndefined();
});

test.each([
  [["--minutes", "0"], '--minutes must be a number above 0, not "0"'],
  [["--minutes", "soon"], '--minutes must be a number above 0, not "soon"'],
  [["--seed", "-1"], "'--seed'"],
  [["--seed", "1.5"], '--seed must be a whole number of at least 0, not "1.5"'],
  [["--workers", "0"], '--workers must be a whole number of at least 1, not "0"'],
  [["--shard", "3/2"], '--shard must be like 1/2 or 2/2, not "3/2"'],
  [["--fast"], "'--fast'"],
])("%j is refused with the option, the rule and the value", (args, words) => {
  expect(() => parseOptions(args)).toThrow(expect.objectContaining({ message: expect.stringContaining(words) }));
});
