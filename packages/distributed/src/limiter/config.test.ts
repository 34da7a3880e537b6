import { memoryBus } from "@hivepace/bus";
import { expect, test } from "vitest";
import {
  createDistributedLimiter,
  type DistributedConfig,
  defaultDistributedConfig,
  validateDistributedConfig,
} from "../index.ts";

const bus = await memoryBus();
const least: DistributedConfig = { bus, agentId: "a" };

test("the defaults are those of the original library, and ours", () => {
  expect(defaultDistributedConfig).toEqual({
    recovery: "stepped",
    learnWindows: false,
    reduceFactor: 0.5,
    recoveryIntervalMs: 30_000,
    recoveryFactor: 1.1,
    maxRecovery: true,
    heartbeatIntervalMs: 1_000,
    sharing: "fair",
    minCapacity: 1,
    isolation: "balanced",
    aggregation: "auto",
    aggregationAt: { above: 300, below: 200 },
    weight: 1,
    maxQueue: Infinity,
  });
  expect(Object.isFrozen(defaultDistributedConfig)).toBe(true);
  expect(() => validateDistributedConfig({ ...least, ...defaultDistributedConfig })).not.toThrow();
});

test("a bus and an id are enough, and an undefined option counts as omitted", () => {
  expect(() => validateDistributedConfig(least)).not.toThrow();
  expect(() => validateDistributedConfig({ ...least, reduceFactor: undefined, secret: undefined })).not.toThrow();
});

test.each<[string, unknown[]]>([
  ["bus", [undefined, null, {}, 7]],
  ["agentId", [undefined, "", 7, "x".repeat(201)]],
  ["sync", [{}, 7]],
  ["aggregation", ["redis", null, 7]],
  ["aggregationAt", [{ above: 1, below: 2 }, { above: 0, below: 0 }, {}, 7]],
  ["reduceFactor", [0, 1, -1, 2, Number.NaN, "0.5"]],
  ["recoveryIntervalMs", [0, -1, Infinity, Number.NaN, 86_400_001]],
  ["recoveryFactor", [1, 0.9, 10.1, Number.NaN]],
  ["maxRecovery", ["yes", 1]],
  ["onCapacityChange", ["listener"]],
  ["heartbeatIntervalMs", [0, 99, 60_001, Number.NaN]],
  ["sharing", ["equal", true]],
  ["cooldownMs", [-1, Infinity, Number.NaN]],
  ["minCapacity", [0, -1, Number.NaN]],
  ["isolation", ["brave", "toString"]],
  ["expectedAgents", [0, 1.5, -1, Infinity]],
  ["namespace", ["", 7]],
  ["weight", [0, -1, 1_001, Number.NaN]],
  ["maxQueue", [-1, 1.5, Number.NaN]],
  ["clock", [{}, null]],
])("%s is checked, and named with the rule and the value", (option, values) => {
  for (const value of values)
    expect(
      () => validateDistributedConfig({ ...least, [option]: value } as DistributedConfig),
      String(value),
    ).toThrowError(expect.objectContaining({ code: "INVALID_CONFIG", option, value }));
});

test.each([
  ["short"],
  [["long enough, this secret", "short"]],
  [[]],
  [["a".repeat(16), "b".repeat(16), "c".repeat(16)]],
  [7],
])("a bad secret is refused and not shown (case %#)", (secret) => {
  const refused = expect.objectContaining({
    code: "INVALID_CONFIG",
    option: "secret",
    message: expect.not.stringContaining("short"),
  });
  expect(() => validateDistributedConfig({ ...least, secret } as DistributedConfig)).toThrowError(refused);
});

test("a missing configuration is refused by name", () => {
  expect(() => validateDistributedConfig(undefined as unknown as DistributedConfig)).toThrowError(
    expect.objectContaining({ code: "INVALID_CONFIG", option: "config" }),
  );
});

test("invalid options never reach the bus", async () => {
  await expect(createDistributedLimiter({ ...least, weight: 0 })).rejects.toMatchObject({ option: "weight" });
  await expect(createDistributedLimiter({ ...least, namespace: "x".repeat(60) })).rejects.toMatchObject({
    option: "namespace",
  });
});
