import { expect, test } from "vitest";
import { parseOptions } from "./options.ts";

test("without options, every scenario runs with ten agents", () => {
  expect(parseOptions([])).toMatchObject({ agents: [10], seeds: 1, mixed: 0, compare: false, soakHours: 0 });
});

test("options for other runs disable the scenarios", () => {
  expect(parseOptions(["--", "--mixed", "50"])).toMatchObject({ agents: [], mixed: 50 });
  expect(parseOptions(["--all"])).toMatchObject({
    agents: [10, 100, 1_000],
    mixed: 5_000,
    compare: true,
    soakHours: 24,
  });
  expect(parseOptions(["--help"])).toBeUndefined();
});

test.each([
  [["--seeds", "0"], "--seeds must be a whole number from 1 on"],
  [["--agents", "10,many"], "--agents must be a whole number from 1 on"],
  [["--only", "("], "--only must be a regular expression"],
  [["--drive", "bus"], "--drive must be engine, hive or limiter"],
  [["--shard", "3/2"], "--shard must be like 1/2 or 2/2"],
  [["--shard", "0/2"], "--shard must be like 1/2 or 2/2"],
  [["--shard", "half"], "--shard must be like 1/2 or 2/2"],
  [["--fast"], "--fast"],
])("%j is refused with a message that names the rule", (args, words) => {
  expect(() => parseOptions(args)).toThrowError(expect.objectContaining({ message: expect.stringContaining(words) }));
});
