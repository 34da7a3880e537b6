import { expect, test } from "vitest";
import { utilizations } from "./endpoints.ts";

test("usage comes from the store, if there is one, with its age", () => {
  const usage = { endpoint: "eu", model: "claude", rpm: 120, tpm: 4_000, utilization: 0.4, agents: 3, ageMs: 800 };
  expect(utilizations({ globalUsage: [usage] })).toEqual([
    { name: "eu/claude", part: 0.4, text: "120 requests and 4,000 tokens a minute by 3 agents, 0.8 s ago" },
  ]);
  expect(utilizations({ globalUsage: [] })).toEqual([]);
  expect(utilizations({})).toBeUndefined();
});
