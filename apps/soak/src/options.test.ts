import { expect, test } from "vitest";
import { FAULTS, parseOptions } from "./options.ts";

test("the defaults are all brokers, all faults, seven minutes and a random seed", () => {
  expect(parseOptions([], () => 0.25)).toEqual({
    brokers: ["nats", "redis", "kafka"],
    minutes: 7,
    rounds: undefined,
    agents: 8,
    seed: 250_000,
    faults: FAULTS,
    patienceMs: 60_000,
    figures: undefined,
    leaks: [],
  });
});

test("options are parsed, and each broker is taken once", () => {
  const args = "--minutes 0.5 --rounds 4 --agents 3 --seed 0 --faults churn,refuse kafka nats kafka".split(" ");
  expect(parseOptions(args)).toMatchObject({
    brokers: ["kafka", "nats"],
    minutes: 0.5,
    rounds: 4,
    agents: 3,
    seed: 0,
    faults: ["churn", "refuse"],
  });
});

test("--help takes precedence over other arguments", () => {
  expect(parseOptions(["--help", "redis"])).toBeUndefined();
});

test.each([
  ["rabbit", 'a broker must be one of nats, redis, kafka, not "rabbit"'],
  ["80 nats", 'a broker must be one of nats, redis, kafka, not "80"'],
  ["--minutes 0", '--minutes must be a number above 0, not "0"'],
  ["--minutes soon", '--minutes must be a number above 0, not "soon"'],
  ["--figures=-1", '--figures must be a number above 0, not "-1"'],
  ["--patience x", '--patience must be a number above 0, not "x"'],
  ["--rounds 3", '--rounds must be a whole number from 4 on, not "3"'],
  ["--agents 2", '--agents must be a whole number from 3 on, not "2"'],
  ["--seed 1.5", '--seed must be a whole number from 0 on, not "1.5"'],
  ["--faults flood", "--faults must be one of refuse, kill-broker"],
  ["--leak water", "--leak must be one of heap, listener"],
  ["--bogus", "--bogus"],
])("an invalid option is named, with its rule and value: %s", (text, message) => {
  expect(() => parseOptions(text.split(" "))).toThrow(RangeError);
  expect(() => parseOptions(text.split(" "))).toThrow(message);
});
