import { promisify } from "node:util";
import { afterEach, beforeEach, onTestFailed } from "vitest";

/** Vitest's words for a test that did not end in time. */
const TIMED_OUT = /^(Test|Hook) timed out in /;

/** State of the whole process. Files may share one process, and each runs this file again. */
interface Watch {
  /** The warnings of the test that runs now, as Node would print them. */
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

/** Node emits a warning only in the next tick. Taken before any test replaces timers. */
const nextTurn = promisify(setImmediate);

beforeEach(({ skip }) => {
  const { warnings, timedOut } = watch;
  // A test that timed out goes on running, with its timers and mocks: what follows in this process would prove nothing.
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
