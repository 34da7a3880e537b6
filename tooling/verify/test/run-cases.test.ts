import { expect, test } from "vitest";
import type { CaseInfo } from "../src/case.ts";
import { type RunOptions, runCases } from "../src/run-cases.ts";

const info = (id: string, seconds = 1): CaseInfo => ({ id, seconds, isQuick: false, file: "x.cases.ts" });

/** Runs cases in virtual seconds: each takes as long as it is estimated, one at a time. */
async function run(cases: readonly CaseInfo[], change: Partial<RunOptions> = {}) {
  let seconds = 0;
  const printed: string[] = [];
  const outcome = await runCases(cases, {
    workers: 1,
    boxSeconds: undefined,
    isVerbose: false,
    print: (text) => printed.push(text),
    signal: new AbortController().signal,
    now: () => seconds,
    runCase: async ({ id, seconds: takes }) => {
      seconds += takes;
      return { logFile: "worker-1.log", ...(id.startsWith("bad") ? { error: "Error: 2 is not 1" } : { result: {} }) };
    },
    ...change,
  });
  return { ...outcome, printed };
}

test("every case is run, in order", async () => {
  const { outcomes, left } = await run([info("a"), info("b")]);
  expect(outcomes.map(({ id, ok }) => [id, ok])).toEqual([
    ["a", true],
    ["b", true],
  ]);
  expect(left).toEqual([]);
});

test("a failure has its error, its command and its log, and the other cases still run", async () => {
  const { outcomes, printed } = await run([info("bad/one"), info("good")]);
  expect(outcomes.map(({ ok }) => ok)).toEqual([false, true]);
  expect(printed).toEqual([
    [
      "FAILED bad/one after 1.0 s",
      "  Error: 2 is not 1",
      "  repeat: npx -y pnpm@12.18.0 verify --only bad/one",
      "  log:    worker-1.log",
    ].join("\n"),
  ]);
});

test("a time box starts only cases that fit, and names those left out", async () => {
  const { outcomes, left } = await run([info("a", 4), info("b", 9), info("c", 5)], { boxSeconds: 10 });
  expect(outcomes.map(({ id }) => id)).toEqual(["a", "c"]);
  expect(left).toEqual(["b"]);
});

test("a case that is longer than the whole box runs when it comes first", async () => {
  const { outcomes, left } = await run([info("long", 50), info("a", 1)], { boxSeconds: 10 });
  expect(outcomes.map(({ id }) => id)).toEqual(["long"]);
  expect(left).toEqual(["a"]);
});

test("an interrupted run starts nothing more, and does not count the interrupted case", async () => {
  const interrupt = new AbortController();
  const runCase = async () => {
    interrupt.abort();
    return { error: "the worker process ended with SIGKILL", logFile: "worker-1.log" };
  };
  const { outcomes, left, printed } = await run([info("a"), info("b")], { runCase, signal: interrupt.signal });
  expect([outcomes, left, printed]).toEqual([[], ["a", "b"], []]);
});

test("a long run reports its progress every half minute", async () => {
  const cases = Array.from({ length: 10 }, (_, i) => info(`suite/${i}`, 10));
  const { printed } = await run(cases);
  expect(printed).toEqual(["  3 of 10 cases after 30 s", "  6 of 10 cases after 60 s", "  9 of 10 cases after 90 s"]);
});
