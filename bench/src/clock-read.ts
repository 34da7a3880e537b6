import type { Contender, SyncOp } from "./suite.ts";

const { performance: held } = globalThis;

/**
 * A lower bound for any operation that depends on time. In Node `performance` is a getter of the global object, which
 * is not always inlined: the reference is the read without the getter, and the read with it is shown as well.
 */
export const clockRead: Contender<SyncOp> = {
  name: "one clock read",
  note: "now() of a performance object held in a variable",
  setup: () => ({ op: () => held.now() > 0 }),
};

export const globalClockRead: Contender<SyncOp> = {
  name: "one clock read, global",
  note: "performance.now(), which asks the global object first",
  setup: () => ({ op: () => performance.now() > 0 }),
};
