import type { AsyncOp, SyncOp } from "./suite.ts";

/** Calls an operation so many times and returns how many calls were granted. */
export type Loop = (times: number) => number | Promise<number>;

let compiled = 0;

/**
 * A loop of its own for every operation. Were they to share one, its call would be a guess among all of them, could
 * never be inlined, and the first to run would be measured with another machine code than the last. The serial number
 * keeps V8 from giving two equal texts the same code.
 */
function compile<L extends Loop>(op: unknown, text: string): L {
  return new Function("op", `/* ${compiled++} */ return ${text}`)(op) as L;
}

export function syncLoop(op: SyncOp): (times: number) => number {
  return compile(
    op,
    `function loop(times) {
      let granted = 0;
      for (let i = 0; i < times; i++) if (op() !== false) granted++;
      return granted;
    }`,
  );
}

export function asyncLoop(op: AsyncOp): (times: number) => Promise<number> {
  return compile(
    op,
    `async function loop(times) {
      let granted = 0;
      for (let i = 0; i < times; i++) if ((await op()) !== false) granted++;
      return granted;
    }`,
  );
}
