import { expect, test } from "vitest";
import { OptionError, parseOptions, usage } from "./options.ts";
import { scenarioNames } from "./scenarios.ts";

test("the defaults are eight agents on the memory bus, the scenario cut, and the page", () => {
  expect(parseOptions([])).toEqual({
    bus: "memory",
    agents: 8,
    rpm: undefined,
    tpm: undefined,
    scenario: "cut",
    duration: 30,
    seed: 1,
    json: false,
    headless: false,
    port: 0,
    metrics: undefined,
    compare: true,
  });
});

test.each([
  [["--bus", "kafka"], { bus: "kafka" }],
  [["--bus", "kafka://a:1,b:2"], { bus: "kafka://a:1,b:2" }],
  [["--bus=nats://me:secret@a"], { bus: "nats://me:secret@a" }],
  [["--agents", "3", "--rpm", "600", "--tpm", "90000"], { agents: 3, rpm: 600, tpm: 90_000 }],
  [["--scenario", "noisy", "--seed", "0", "--duration", "10"], { scenario: "noisy", seed: 0, duration: 10 }],
  [["--json"], { json: true, headless: true, compare: false }],
  [["--json", "--compare"], { json: true, compare: true }],
  [["--seconds", "20"], { duration: 20 }],
  [["--headless", "--no-compare"], { headless: true, compare: false }],
  [["--", "--port", "8080"], { port: 8_080 }],
  [["--metrics", "0"], { port: 0, metrics: 0 }],
  [["--metrics", "9464", "--port", "8080"], { port: 8_080, metrics: 9_464 }],
  [["--metrics", "9464", "--port", "9464", "--headless"], { metrics: 9_464, headless: true }],
])("%j is understood", (args, options) => {
  expect(parseOptions(args)).toMatchObject(options);
});

test.each([["--help"], ["-h"]])("%s asks for the usage, which names every scenario", (arg) => {
  expect(parseOptions([arg])).toBeUndefined();
  for (const name of scenarioNames) expect(usage).toContain(name);
});

test.each([
  [["--agents", "0"], /^--agents must be a whole number from 1 to 64, got "0"$/],
  [["--agents", "many"], /^--agents must be .*, got "many"$/],
  [["--agents", ""], /^--agents must be .*, got ""$/],
  [["--agents", "2.5"], /^--agents must be .*, got "2.5"$/],
  [["--rpm", "9"], /^--rpm must be a whole number from 10 to 6000, got "9"$/],
  [["--tpm", "1e9"], /^--tpm must be .*, got "1e9"$/],
  [["--duration", "9"], /^--duration must be a whole number from 10 to 86400, got "9"$/],
  [["--seed", "-1"], /^Option '--seed' argument is ambiguous$/],
  [["--seed=-1"], /^--seed must be .*, got "-1"$/],
  [["--port", "65536"], /^--port must be .*, got "65536"$/],
  [["--metrics", "65536"], /^--metrics must be a whole number from 0 to 65535, got "65536"$/],
  [["--metrics", "all"], /^--metrics must be .*, got "all"$/],
  [["--metrics", "9464", "--port", "9464"], /^--metrics must be another port than --port, got 9464$/],
  [["--scenario", "boom"], /^--scenario must be one of calm, surge, .*, got "boom"$/],
  [["--bus", "rabbit"], /^--bus must be memory, nats, redis, kafka, nats:.*, got "rabbit"$/],
  [["--bus", "memory:x"], /^--bus must be .*, got "memory:x"$/],
  [["--bus", "rabbit://me:secret@a"], /^(?!.*secret)--bus must be .*$/],
  [
    ["--seconds", "20", "--duration", "30"],
    /^--seconds must be left out with --duration, which is the same, got "20"$/,
  ],
  [["--seconds", "9"], /^--seconds must be a whole number from 10 to 86400, got "9"$/],
  [["--fast"], /^Unknown option '--fast'$/],
  [["--agent", "4"], /^Unknown option '--agent': did you mean --agents\?$/],
  [["--agents"], /^Option '--agents <value>' argument missing$/],
  [["now"], /^Unexpected argument 'now'$/],
])("%j is refused in one line that says what is wrong", (args, message) => {
  expect(() => parseOptions(args)).toThrowError(OptionError);
  expect(() => parseOptions(args)).toThrowError(message);
});
