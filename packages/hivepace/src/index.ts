/**
 * The complete API in one import. Install the adapter of your broker beside this package: `@hivepace/bus-nats` and
 * others.
 */
export {
  type Broker,
  type BusCapabilities,
  BusClosedError,
  BusPayloadTooLargeError,
  type BusState,
  BusSubjectInvalidError,
  BusUnavailableError,
  type MemoryBroker,
  type MessageBus,
  type MessageHandler,
  memoryBroker,
  memoryBus,
  namespacedBus,
  type SubscribeOptions,
  type Subscription,
  threadBroker,
} from "@hivepace/bus";
// Two packages export an `ObservedLimit`: core for limits in a response, distributed for limits of an observed swarm.
export type { ObservedLimit } from "@hivepace/core";
export * from "@hivepace/core";
export type { ObservedLimit as ObservedSwarmLimit } from "@hivepace/distributed";
export * from "@hivepace/distributed";
export * from "@hivepace/fetch";
export { type ResolvedNamespace, resolveNamespace } from "@hivepace/namespace";
// These functions also accept addresses of brokers and stores, and replace those of `@hivepace/distributed`.
export {
  type AnnounceOptions,
  announceCapacity,
  createDistributedLimiter,
  createHive,
  type DistributedLimiterOptions,
  type HiveOptions,
  type ObserverOptions,
  observeSwarm,
} from "./connect/create.ts";
export { type OpenOptions, openBus, openStore } from "./connect/open.ts";
export type { BusSource, StoreSource } from "./connect/opened.ts";
