import { expect, test } from "vitest";
import { frame, limitFrame, resourceFrame } from "../../../test/support/frames.ts";
import { utilizations } from "./endpoints.ts";

test("from the store, where there is one, and its age is told", () => {
  const usage = { endpoint: "eu", model: "claude", rpm: 120, tpm: 4_000, utilization: 0.4, agents: 3, ageMs: 800 };
  expect(utilizations(frame({ globalUsage: [usage] }))).toEqual({
    source: "store",
    rows: [{ name: "eu/claude", part: 0.4, text: "120 requests and 4,000 tokens a minute by 3 agents, 0.8 s ago" }],
  });
  expect(utilizations(frame({ globalUsage: [] }))).toEqual({ source: "store", rows: [] });
});

test("else from what agents say: the fullest limit", () => {
  const limits = [limitFrame({ used: 20 }), limitFrame({ dimension: "tokens", limit: 1_000, used: 900 })];
  expect(utilizations(frame({ resources: [resourceFrame({ limits })] }))).toEqual({
    source: "agents",
    rows: [{ name: "openai", part: 0.9, text: "20 requests and 900 tokens a minute by 2 agents" }],
  });
});

test("what has no limit has no utilisation", () => {
  const limits = [limitFrame({ limit: null, total: null })];
  expect(utilizations(frame({ resources: [resourceFrame({ limits })] })).rows[0]?.part).toBeUndefined();
});
