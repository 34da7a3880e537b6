/**
 * Exports for Hivepace's own packages, which all have the same version. Programs must not import from here: any release
 * may change these exports.
 */
export { type AfterAbort, onAbort } from "./abort-listeners.ts";
export { checkAcquireOptions, checkConcerns, checkCost, checkMaxQueue, checkRefusal } from "./acquire-checks.ts";
export { type Address, type HostAndPort, hostText, parseAddress } from "./address.ts";
export { AMOUNT, isAmount } from "./amount.ts";
export {
  announced,
  availability,
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
export { listOf } from "./errors.ts";
export { escapePart } from "./escape.ts";
export { Heap, type HeapEntry } from "./heap.ts";
export {
  ACQUIRE_OPTIONS,
  CAPACITY_OPTIONS,
  checkKnown,
  checkObject,
  checkSpelling,
  nearestOf,
  type OptionNames,
  REDUCED_DETAILS,
} from "./known-options.ts";
export { Listeners } from "./listeners.ts";
export { need } from "./need.ts";
export { checkEndpoint } from "./rate/endpoints.ts";
export { ENDPOINT_OPTIONS, KEY_OPTIONS } from "./rate/option-names.ts";
export { checkNames, readConfig } from "./rate/rate-config.ts";
export { messageOf, redact, redactAddress, redactOption, safeError } from "./redact.ts";
export { show } from "./show.ts";
export { waitFor } from "./wait-for.ts";
export { type InLine, WaitLine } from "./wait-line.ts";
export type { Served, WaitingRoom } from "./waiting-room.ts";
export { warn } from "./warn.ts";
