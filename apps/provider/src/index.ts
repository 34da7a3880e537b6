export { largestWindow, type Sent } from "./record.ts";
export { type Failure, type FakeProvider, type ProviderOptions, startProvider } from "./start-provider.ts";
export type { Limits, WindowKind } from "./window-limit.ts";
