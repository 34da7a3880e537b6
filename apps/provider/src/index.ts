export { largestWindow, type Sent } from "./record.ts";
export {
  type Failure,
  type FakeProvider,
  type ProviderOptions,
  type ProviderState,
  startProvider,
} from "./start-provider.ts";
export type { Tally } from "./tally.ts";
export type { Limits, WindowKind } from "./window-limit.ts";
