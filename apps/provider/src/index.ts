export type { Failure, FakeProvider, ProviderOptions, ProviderState } from "./provider-types.ts";
export { largestWindow, type Sent } from "./record.ts";
export { startProvider } from "./start-provider.ts";
export type { Tally } from "./tally.ts";
export type { Limits, WindowKind } from "./window-limit.ts";
