export type { About, AttributeHook } from "./attributes.ts";
export { type Instrumentation, instrumentHivepace, type OtelOptions } from "./instrument-hivepace.ts";
export type {
  HasSnapshot,
  HasStatus,
  Observed,
  ObservedCount,
  ObservedEndpoint,
  ObservedLimit,
  ObservedResource,
  ObservedSlots,
  ObservedStatus,
  ObservedSync,
} from "./sources.ts";
