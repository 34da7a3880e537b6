import { expect, test } from "vitest";
import type { SimulationOptions } from "./options.ts";
import { simulateSwarm } from "./simulate-swarm.ts";

const right: SimulationOptions = { seed: 1, agents: 2, limits: { requests: 10 }, demand: { load: 1 }, duration: 1_000 };

test.each([
  ["seed", { seed: 0.5 }],
  ["agents", { agents: 0 }],
  ["duration", { duration: Infinity }],
  ["limits", { limits: {} }],
  ["limits.requests", { limits: { requests: -1 } }],
  ["limits.windowMs", { limits: { requests: 1, windowMs: 0 } }],
  ["demand.tokens", { limits: { tokens: 10 } }],
] as const)("a wrong %s is named", (option, wrong) => {
  expect(() => simulateSwarm({ ...right, ...wrong })).toThrowError(
    expect.objectContaining({ code: "INVALID_CONFIG", option }),
  );
  expect(() => simulateSwarm(right)).not.toThrow();
});
