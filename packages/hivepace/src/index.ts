/** Everything that a program needs, in one import. What a broker needs comes beside it: `@hivepace/bus-nats` and others. */
export {
  type Broker,
  BusClosedError,
  type BusState,
  BusUnavailableError,
  type MessageBus,
  memoryBroker,
  memoryBus,
  type Subscription,
  threadBroker,
} from "@hivepace/bus";
// Two packages know an `ObservedLimit`: the one that an answer shows, and the one of an observed swarm.
export type { ObservedLimit } from "@hivepace/core";
export * from "@hivepace/core";
export type { ObservedLimit as ObservedSwarmLimit } from "@hivepace/distributed";
export * from "@hivepace/distributed";
export * from "@hivepace/fetch";
export { type ResolvedNamespace, resolveNamespace } from "@hivepace/namespace";
