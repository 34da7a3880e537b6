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
    survey.hear({ type: "measured", agentId, question, families: families(agentId) });
  return { clock, survey, put, ask, answer };
}

const names = async (answered: Promise<(readonly Family[])[]>) => (await answered).flat().map(({ name }) => name);

test("all answers come in the order in which agents were asked, as soon as the last is there", async () => {
  const { ask, answer } = setUp();
  const answered = ask("a", "b", "c");
  for (const agentId of ["c", "a", "b"]) answer(agentId);
  expect(await names(answered)).toEqual(["a", "b", "c"]);
});

test("one that does not answer in time is left out, and what it says later answers nothing", async () => {
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

test("one that leaves is not waited for; one that has answered before still counts", async () => {
  const { ask, answer, survey } = setUp();
  const answered = ask("a", "b");
  answer("a");
  survey.leave("a");
  survey.leave("stranger");
  survey.leave("b");
  expect(await names(answered)).toEqual(["a"]);
});

test("whoever asks meanwhile hears the same, and the agents are asked once", async () => {
  const { ask, answer, put } = setUp();
  const both = [ask("a"), ask("a", "b")];
  answer("a");
  answer("a");
  expect(await Promise.all(both.map(names))).toEqual([["a"], ["a"]]);
  expect(put).toEqual([1]);
});

test("nobody is there to be asked: the answer is empty, and no question is put", async () => {
  const { ask, put } = setUp();
  expect(await ask()).toEqual([]);
  expect(put).toEqual([]);
});

test("closed, it gives what there is to those who wait, asks nobody any more, and leaves no timer", async () => {
  const { ask, answer, survey, put, clock } = setUp();
  const answered = ask("a", "b");
  answer("b");
  survey.close();
  expect(await names(answered)).toEqual(["b"]);
  expect(await ask("a")).toEqual([]);
  expect([put, clock.pending]).toEqual([[1], 0]);
});
