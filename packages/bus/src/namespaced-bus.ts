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
 * The same bus, on which only those of this namespace hear each other. Closing it ends its subscriptions and leaves the
 * bus below open: who opened that, closes it. Its own deadlines are by the clock of `options`, the system's by default.
 */
export function namespacedBus(bus: MessageBus, namespace: string, options?: DriverBusOptions): MessageBus {
  // One part of a subject whatever is in it, or "a" + "b.c" would hear "a.b" + "c".
  const prefix = isSubject(namespace) ? `${escapePart(namespace, /\./)}.` : "";
  // What is left is enough for every subject that is legal on all buses.
  if (prefix === "" || new TextEncoder().encode(prefix).length > MAX_PREFIX_BYTES)
    throw new InvalidConfigError("namespace", NAMESPACE_RULE, namespace);
  return new DriverBus((events) => new NamespacedDriver(bus, events, prefix), bus.state, options);
}
