import { ManualClock } from "@hivepace/core/testing";
import { expect, test } from "vitest";
import type { Family } from "../metrics/family.ts";
import { ANSWER_MS, Survey } from "./survey.ts";

const families = (name: string): Family[] => [{ name, head: "", samples: "" }];

function setUp() {
  const clock = new ManualClock();
  const survey = new Survey(clock);
  const put: number[] = [];
  const ask = (...agentIds: string[]) => survey.ask(agentIds, (question) => put.push(question));
  const answer = (agentId: string, question = put.at(-1) ?? 0) =>
    survey.receive({ type: "measured", agentId, question, families: families(agentId) });
  return { clock, survey, put, ask, answer };
}

const names = async (answered: Promise<(readonly Family[])[]>) => (await answered).flat().map(({ name }) => name);

test("the answers have the order of the agents, and resolve with the last one", async () => {
  const { ask, answer } = setUp();
  const answered = ask("a", "b", "c");
  for (const agentId of ["c", "a", "b"]) answer(agentId);
  expect(await names(answered)).toEqual(["a", "b", "c"]);
});

test("an agent that does not answer in time is left out, and its late answer is ignored", async () => {
  const { clock, ask, answer, put } = setUp();
  const first = ask("a", "b");
  answer("a");
  await clock.run(ANSWER_MS);
  expect(await names(first)).toEqual(["a"]);
  const second = ask("a", "b");
  expect(put).toEqual([1, 2]);
  answer("b", 1);
  answer("a", 2);
  await clock.run(ANSWER_MS);
  expect(await names(second)).toEqual(["a"]);
});

test("an agent that leaves is not waited for, but an answer it gave before counts", async () => {
  const { ask, answer, survey } = setUp();
  const answered = ask("a", "b");
  answer("a");
  survey.leave("a");
  survey.leave("stranger");
  survey.leave("b");
  expect(await names(answered)).toEqual(["a"]);
});

test("concurrent callers share one question and its answer", async () => {
  const { ask, answer, put } = setUp();
  const both = [ask("a"), ask("a", "b")];
  answer("a");
  answer("a");
  expect(await Promise.all(both.map(names))).toEqual([["a"], ["a"]]);
  expect(put).toEqual([1]);
});

test("without agents the answer is empty, and no question is sent", async () => {
  const { ask, put } = setUp();
  expect(await ask()).toEqual([]);
  expect(put).toEqual([]);
});

test("close resolves pending callers with the answers received, sends no more questions, and leaves no timer", async () => {
  const { ask, answer, survey, put, clock } = setUp();
  const answered = ask("a", "b");
  answer("b");
  survey.close();
  expect(await names(answered)).toEqual(["b"]);
  expect(await ask("a")).toEqual([]);
  expect([put, clock.pending]).toEqual([[1], 0]);
});
