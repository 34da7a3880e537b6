import { expect, test } from "vitest";
import { FAULTS, parseOptions } from "./options.ts";

test("without options: all brokers, all faults, some minutes, and a seed by chance", () => {
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

test("what is given counts, each broker once", () => {
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

test("help is shown whatever else is given", () => {
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
])("a wrong option is named, with what it should be: %s", (text, message) => {
  expect(() => parseOptions(text.split(" "))).toThrow(RangeError);
  expect(() => parseOptions(text.split(" "))).toThrow(message);
});
