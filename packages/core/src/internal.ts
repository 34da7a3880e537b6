/** For Hivepace's own packages, which all carry one version. Not for programs: it may change in any release. */
export { type AfterAbort, onAbort } from "./abort-listeners.ts";
export { checkAcquireOptions, checkCost, checkMaxQueue, checkRefusal } from "./acquire-checks.ts";
export { AMOUNT, isAmount } from "./amount.ts";
export {
  announced,
  busState,
  denied,
  ended,
  granted,
  ignored,
  level,
  member,
  published,
  received,
  sending,
  sent,
  synced,
  waited,
  waiting,
} from "./diagnostics.ts";
export { escapePart } from "./escape.ts";
export { Heap, type HeapEntry } from "./heap.ts";
export { Listeners } from "./listeners.ts";
export { show } from "./show.ts";
export { waitFor } from "./wait-for.ts";
export { type InLine, WaitLine } from "./wait-line.ts";
export type { Served, WaitingRoom } from "./waiting-room.ts";
export { warn } from "./warn.ts";
