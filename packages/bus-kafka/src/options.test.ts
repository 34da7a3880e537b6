import { isHivepaceError } from "@hivepace/core";
import { describe, expect, test } from "vitest";
import { kafkaBus } from "./kafka-bus.ts";
import { checkOptions, DEFAULTS } from "./options.ts";

describe("options", () => {
  test("omitted options have their default values", () => {
    expect(checkOptions({ topic: undefined })).toEqual(DEFAULTS);
    expect(checkOptions({ topic: "mine", waitForBroker: true })).toEqual({
      ...DEFAULTS,
      topic: "mine",
      waitForBroker: true,
    });
  });

  test.for([
    ["brokers", {}],
    ["brokers", { brokers: [] }],
    ["brokers", { brokers: "localhost:9092" }],
    ["brokers", { brokers: [9092] }],
    ["sasl", { brokers: ["a:1"], sasl: { username: "a" } }],
    ["topic", { brokers: ["a:1"], topic: "no spaces" }],
    ["topic", { brokers: ["a:1"], topic: "" }],
    ["groupPrefix", { brokers: ["a:1"], groupPrefix: 7 }],
    ["createTopic", { brokers: ["a:1"], createTopic: "yes" }],
    ["waitForBroker", { brokers: ["a:1"], waitForBroker: 1 }],
    ["connectTimeoutMs", { brokers: ["a:1"], connectTimeoutMs: 0 }],
    ["joinTimeoutMs", { brokers: ["a:1"], joinTimeoutMs: Number.NaN }],
    ["publishTimeoutMs", { brokers: ["a:1"], publishTimeoutMs: -1 }],
    ["source", null],
  ] as const)("an invalid %s is rejected with an error that names the option: %j", async ([option, options]) => {
    const error = await kafkaBus(options as never).catch((reason: unknown) => reason);
    expect(isHivepaceError(error, "INVALID_CONFIG") && error.option).toBe(option);
  });

  test("no error contains a password", async () => {
    const sasl = { mechanism: 7, password: "secret" } as never;
    const error = await kafkaBus({ brokers: ["a:1"], sasl }).catch(String);
    expect(error).not.toContain("secret");
  });
});
