import { promisify } from "node:util";
import { afterEach, beforeEach, onTestFailed } from "vitest";

/** The beginning of Vitest's message about a timeout. */
const TIMED_OUT = /^(Test|Hook) timed out in /;

/** State of the whole process. Files may share one process, and each runs this file again. */
interface Watch {
  /** The warnings of the current test, as Node would print them. */
  readonly warnings: string[];
  /** The name of a test that has timed out. */
  timedOut: string | undefined;
}

const WATCH = Symbol.for("hivepace.test-kit.watch");
const known = globalThis as { [WATCH]?: Watch };
known[WATCH] ??= startWatch();
const watch = known[WATCH];

function startWatch(): Watch {
  const warnings: string[] = [];
  process.on("warning", ({ name, message, ...more }) => {
    const { code } = more as { code?: string };
    warnings.push(`${code ? `[${code}] ` : ""}${name}: ${message}`);
  });
  return { warnings, timedOut: undefined };
}

/** Node emits warnings in the next tick. Captured before any test replaces timers. */
const nextTurn = promisify(setImmediate);

beforeEach(({ skip }) => {
  const { warnings, timedOut } = watch;
  // A timed-out test keeps running, with its timers and mocks, so that later tests in this process would prove nothing.
  if (timedOut !== undefined) skip(`not run, because "${timedOut}" timed out and may still be running`);
  warnings.length = 0;
  onTestFailed(() => {
    if (warnings.length > 0) console.error(`warnings during this test:\n  ${warnings.join("\n  ")}`);
  });
});

afterEach(async ({ task }) => {
  await nextTurn();
  if (task.result?.errors?.some(({ message }) => TIMED_OUT.test(message))) watch.timedOut = task.name;
});
