import { promisify } from "node:util";
import { afterEach, beforeEach, onTestFailed } from "vitest";

/** Vitest's words for a test that did not end in time. */
const TIMED_OUT = /^(Test|Hook) timed out in /;

/** The warnings of the test that runs now, as Node would print them. */
const warnings: string[] = [];
process.on("warning", ({ name, message, ...more }) => {
  const { code } = more as { code?: string };
  warnings.push(`${code ? `[${code}] ` : ""}${name}: ${message}`);
});

/** Node emits a warning only in the next tick. Taken before any test replaces timers. */
const nextTurn = promisify(setImmediate);
let timedOut: string | undefined;

beforeEach(({ skip }) => {
  // A test that timed out goes on running, with its timers and mocks: what follows in this file would prove nothing.
  if (timedOut !== undefined) skip(`not run, because "${timedOut}" timed out and may still be running`);
  warnings.length = 0;
  onTestFailed(() => {
    if (warnings.length > 0) console.error(`warnings during this test:\n  ${warnings.join("\n  ")}`);
  });
});

afterEach(async ({ task }) => {
  await nextTurn();
  if (task.result?.errors?.some(({ message }) => TIMED_OUT.test(message))) timedOut = task.name;
});
