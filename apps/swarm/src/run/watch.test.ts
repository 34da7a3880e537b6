import { beforeEach, expect, test } from "vitest";
import type { AgentState } from "../agent/words.ts";
import { type SwarmNews, Watch } from "./watch.ts";

const calm: AgentState = {
  wantedCalls: 0,
  wantedTokens: 0,
  answered: 0,
  failed: 0,
  tasksFinished: 0,
  tasksFailed: 0,
  wastedCalls: 0,
  wastedTokens: 0,
  pending: 0,
  mode: "member",
  members: 2,
  level: 1,
  share: 0.5,
  used: 0,
  waiting: 0,
};
let news: SwarmNews[];
let watch: Watch;
beforeEach(() => {
  news = [];
  watch = new Watch(true, (one) => news.push(one));
  for (const agentId of ["a", "b"]) watch.add(agentId);
});

const state = (agentId: string, now: number, change: Partial<AgentState> = {}) =>
  watch.receive({ type: "state", agentId, state: { ...calm, ...change }, latencies: [] }, now);
const reduced = (agentId: string, now: number) => watch.receive({ type: "reduced", agentId, at: now, by: "a" }, now);

test("a cut of all agents is reported once, and its recovery once all agents have their whole limit", () => {
  reduced("a", 100);
  expect(news).toEqual([]);
  reduced("b", 130);
  expect(news).toEqual([{ type: "reduced", by: "a", agents: 2, of: 2, tookMs: 30 }]);
  state("a", 200, { level: 0.5 });
  state("b", 210, { level: 0.5 });
  expect([watch.isReduced, watch.level]).toEqual([true, 0.5]);
  state("a", 900);
  expect(watch.isReduced).toBe(true);
  state("b", 1_100);
  expect(news[1]).toEqual({ type: "recovered", agents: 2, afterMs: 1_000 });
  expect([watch.isReduced, watch.reductions, watch.recoveries]).toEqual([false, 1, 1]);
});

test("a state from before an agent's cut does not count as recovery", () => {
  state("a", 90);
  state("b", 90);
  reduced("a", 100);
  reduced("b", 110);
  state("a", 105);
  expect(watch.isReduced).toBe(true);
});

test("a second cut during a recovery is a new cut, with one recovery for both", () => {
  for (const now of [100, 500]) for (const agentId of ["a", "b"]) reduced(agentId, now);
  for (const agentId of ["a", "b"]) state(agentId, 900);
  expect([watch.reductions, watch.recoveries]).toEqual([2, 1]);
});

test("agents that cut at the same time, to different levels, cut once", () => {
  reduced("a", 100);
  reduced("a", 120);
  reduced("b", 130);
  reduced("a", 140);
  watch.evaluate(60_000);
  expect(news).toEqual([{ type: "reduced", by: "a", agents: 2, of: 2, tookMs: 30 }]);
});

test("a second cut long after the first is awaited for all agents, too", () => {
  for (const now of [100, 30_000]) for (const [i, agentId] of ["a", "b"].entries()) reduced(agentId, now + i * 20);
  expect(news).toEqual([
    { type: "reduced", by: "a", agents: 2, of: 2, tookMs: 20 },
    { type: "reduced", by: "a", agents: 2, of: 2, tookMs: 20 },
  ]);
  for (const agentId of ["a", "b"]) state(agentId, 31_000);
  expect(news[2]).toEqual({ type: "recovered", agents: 2, afterMs: 30_900 });
});

test("a cut that does not reach all agents is reported after a delay, with the number reached", () => {
  reduced("a", 100);
  watch.evaluate(10_000);
  expect(news).toEqual([]);
  watch.evaluate(10_101);
  expect(news).toEqual([{ type: "reduced", by: "a", agents: 1, of: 2, tookMs: 0 }]);
});

test("agents without a common limit are counted separately", () => {
  const apart = new Watch(false, () => {});
  for (const agentId of ["a", "b"]) apart.add(agentId);
  for (const agentId of ["a", "b"]) apart.receive({ type: "reduced", agentId, at: 1, by: agentId }, 1);
  expect(apart.reductions).toBe(2);
});

test.each<[string, Partial<AgentState>, boolean]>([
  ["knows one other and itself", {}, true],
  ["knows one too many", { members: 3 }, false],
  ["listens first", { mode: "joining" }, false],
  ["does not hear the other", { mode: "isolated" }, false],
])("the swarm is whole when every agent knows all others: one %s", (_, change, isWhole) => {
  state("a", 1);
  state("b", 1, change);
  expect(watch.isWhole).toBe(isWhole);
});

test("the last agent of a swarm is alone, and the membership is whole", () => {
  watch.remove("b");
  state("a", 1, { mode: "alone", members: 1 });
  expect(watch.isWhole).toBe(true);
});

test("a crashed agent is not waited for", () => {
  reduced("a", 100);
  watch.remove("b");
  state("a", 900);
  expect(news.map(({ type }) => type)).toEqual(["reduced", "recovered"]);
});

test("agents have met once each has known all others, not necessarily at the same time", () => {
  state("a", 1);
  state("a", 2, { mode: "joining" });
  expect(watch.haveMet).toBe(false);
  state("b", 3);
  expect([watch.haveMet, watch.isWhole]).toEqual([true, false]);
});
