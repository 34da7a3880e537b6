export type { CallFacts, Protocol } from "./call/call-facts.ts";
export {
  createLimitedFetch,
  type GlobalFetch,
  type LimitedFetchOptions,
} from "./limited-fetch/create-limited-fetch.ts";
export type { CallInfo, FetchEndpoint, PacingOptions } from "./options.ts";
export type { CallEvent } from "./pacing/call-events.ts";
export type { Fallback } from "./pacing/fallback.ts";
export { observationOf } from "./pacing/observation.ts";
export type { UnknownPolicy } from "./pacing/unknown-endpoint.ts";
export { classifyError } from "./signal/classify-error.ts";
export { type ProviderAnswer, parseProviderSignal } from "./signal/parse-provider-signal.ts";
export {
  isWorthWaiting,
  type ProviderSignal,
  type RefusalClass,
  reducesCapacity,
  type SignalDimension,
} from "./signal/provider-signal.ts";
export { type SeenTokens, type TokenEstimate, TokenEstimator } from "./usage/token-estimator.ts";
