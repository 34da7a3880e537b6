import type { AsyncOp, SyncOp } from "./suite.ts";

/** Calls an operation `times` times and returns the number of granted calls. */
export type Loop = (times: number) => number | Promise<number>;

let compiled = 0;

/**
 * Compiles a separate loop for every operation. In a shared loop the call site would be megamorphic, could never be
 * inlined, and would run with different machine code for the first and the last operation. The serial number keeps V8
 * from sharing the code of two equal texts.
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
