import { InvalidConfigError } from "@hivepace/core";
import { escapePart } from "@hivepace/core/internal";
import type { BusEvents } from "./driver.ts";
import { DriverBus, type DriverBusOptions } from "./driver-bus.ts";
import type { MessageBus } from "./message-bus.ts";
import { RelayDriver } from "./relay-driver.ts";
import { isSubject } from "./subject.ts";

const MAX_PREFIX_BYTES = 55;
const NAMESPACE_RULE = "a string of 1 to 54 bytes in UTF-8 without control characters, where `.` and `%` count as 3";

class NamespacedDriver extends RelayDriver {
  readonly #prefix: string;

  constructor(bus: MessageBus, events: BusEvents, prefix: string) {
    super(bus, events);
    this.#prefix = prefix;
  }

  protected override nameBelow(subject: string): string {
    return this.#prefix + subject;
  }
}

/**
 * Wraps a bus so that only buses of the same namespace exchange messages. Closing the wrapper ends its subscriptions
 * and leaves the bus below open. `options` sets the deadlines and the clock of the wrapper.
 *
 * @throws InvalidConfigError when the namespace or an option is invalid.
 *
 * @example
 * ```ts
 * import { memoryBus, namespacedBus } from "@hivepace/bus";
 *
 * const bus = await memoryBus();
 * const staging = namespacedBus(bus, "staging");
 * await staging.publish("greetings", new Uint8Array(1)); // on the subject "staging.greetings" of `bus`
 * ```
 */
export function namespacedBus(bus: MessageBus, namespace: string, options?: DriverBusOptions): MessageBus {
  // Escaping keeps the namespace one part of the subject; otherwise "a" + "b.c" would collide with "a.b" + "c".
  const prefix = isSubject(namespace) ? `${escapePart(namespace, /\./)}.` : "";
  // The remaining bytes suffice for every subject that is legal on all buses.
  if (prefix === "" || new TextEncoder().encode(prefix).length > MAX_PREFIX_BYTES)
    throw new InvalidConfigError("namespace", NAMESPACE_RULE, namespace);
  if (typeof bus?.publish !== "function") throw new InvalidConfigError("bus", "a MessageBus", bus);
  return new DriverBus((events) => new NamespacedDriver(bus, events, prefix), bus.state, options);
}
