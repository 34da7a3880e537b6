import { expect, test } from "vitest";
import { scoreOf } from "./score.ts";

test("wasted calls are refused requests and the answers of tasks that failed", () => {
  const totals = { tasksFinished: 3, tasksFailed: 2, failed: 2, wastedCalls: 9, wastedTokens: 8_000 } as const;
  const swarm = {
    total: (count: string) => (totals as Record<string, number>)[count] ?? Number.NaN,
    latency: (part: number) => (part === 0.5 ? 250.4 : undefined),
  };
  expect(scoreOf("split", swarm, { rejected429: 7 }, 0.98765)).toEqual({
    row: "split",
    tasksFinished: 3,
    tasksFailed: 2,
    callsFailed: 2,
    wastedCalls: 16,
    wastedTokens: 8_000,
    latencyP50Ms: 250,
    latencyP99Ms: null,
    utilization: 0.988,
  });
});
