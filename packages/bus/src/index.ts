export type { BusDriver, BusEvents } from "./driver.ts";
export { DriverBus, type DriverBusOptions } from "./driver-bus.ts";
export { BusClosedError, BusPayloadTooLargeError, BusSubjectInvalidError, BusUnavailableError } from "./errors.ts";
export { type Broker, type MemoryBroker, memoryBroker } from "./memory-broker.ts";
export { memoryBus } from "./memory-bus.ts";
export type {
  BusCapabilities,
  BusState,
  MessageBus,
  MessageHandler,
  SubscribeOptions,
  Subscription,
} from "./message-bus.ts";
export { namespacedBus } from "./namespaced-bus.ts";
export { threadBroker } from "./thread-broker.ts";
