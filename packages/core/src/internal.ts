/** For Hivepace's own packages, which all carry one version. Not for programs: it may change in any release. */
export { AMOUNT, isAmount } from "./amount.ts";
export { escapePart } from "./escape.ts";
export { Heap, type HeapEntry } from "./heap.ts";
export { Listeners } from "./listeners.ts";
export { show } from "./show.ts";
export { warn } from "./warn.ts";
