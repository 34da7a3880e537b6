import { ManualClock, settlePromises } from "@hivepace/core/testing";
import { expect, test } from "vitest";
import { TASK_CALLS } from "../demand.ts";
import type { AgentTask } from "./words.ts";
import { type Call, Workers } from "./workers.ts";

const task = {
  agentId: "agent-1",
  providerUrl: "http://provider",
  seed: 1,
  callsPerSecond: 0.25,
  medianTokens: 750,
  meanTokens: 1_000,
  mostTokens: 5_000,
} as AgentTask;

/** Runs one agent's workers for some minutes of virtual time; every call takes a second. */
async function work(answer: (call: number) => Response, minutes: number, change: Partial<AgentTask> = {}) {
  const clock = new ManualClock();
  const sent: string[] = [];
  const call: Call = async (_, { body }) => {
    const response = answer(sent.push(String(body)));
    await new Promise<void>((resolve) => void clock.after(1_000, resolve));
    return response;
  };
  const workers = new Workers({ ...task, ...change }, call, clock);
  for (let second = 0; second < minutes * 60; second++) {
    clock.advance(1_000);
    await settlePromises();
  }
  const { counts } = workers;
  const latencies = workers.takeLatencies();
  await workers.stop();
  return { counts, latencies, sent, pending: clock.pending };
}

const fine = () => new Response("{}");
const refused = () => new Response("{}", { status: 429 });

test("a task is finished after twenty calls, one after the other", async () => {
  const { counts, latencies, sent, pending } = await work(fine, 20);
  expect(counts.tasksFinished).toBeGreaterThan(8);
  expect(counts.answered).toBeLessThan((counts.tasksFinished + 1) * TASK_CALLS);
  expect(counts).toMatchObject({ failed: 0, tasksFailed: 0, wastedCalls: 0, wastedTokens: 0, wantedCalls: 300 });
  expect(counts.answered).toBe(latencies.length);
  expect(new Set(latencies)).toEqual(new Set([1_000]));
  expect(sent.length - counts.answered).toBeLessThanOrEqual(1);
  expect(pending).toBeLessThanOrEqual(1);
});

test("a task fails with its first failed call, and its earlier answers count as wasted", async () => {
  const { counts } = await work((call) => (call % 5 === 0 ? refused() : fine()), 5);
  expect(counts.tasksFinished).toBe(0);
  expect(counts.tasksFailed).toBe(counts.failed);
  expect(counts.tasksFailed).toBeGreaterThan(3);
  expect(counts.wastedCalls).toBe(4 * counts.tasksFailed);
  expect(counts.wastedTokens).toBeGreaterThan(100 * counts.wastedCalls);
});

test("the same seed makes the same calls, another seed makes other calls", async () => {
  const first = (await work(fine, 4)).sent;
  expect((await work(fine, 4)).sent).toEqual(first);
  expect((await work(fine, 4, { seed: 2 })).sent).not.toEqual(first);
});
