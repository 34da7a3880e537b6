import type { BusDriver, BusEvents } from "./driver.ts";
import { DriverBus, type DriverBusOptions } from "./driver-bus.ts";
import { type Broker, memoryBroker } from "./memory-broker.ts";
import type { BusCapabilities, MessageBus } from "./message-bus.ts";

const supports: BusCapabilities = Object.freeze({
  delivery: "at-most-once",
  ordering: "per-publisher",
  echo: true,
  replay: false,
  maxPayloadBytes: 1_048_576,
});

class MemoryDriver implements BusDriver {
  readonly name = "memory";
  readonly supports = supports;
  readonly #broker: Broker;
  readonly #member: BusEvents;
  readonly #subjects = new Set<string>();

  constructor(broker: Broker, events: BusEvents) {
    this.#broker = broker;
    this.#member = {
      message: (subject, payload) => this.#subjects.has(subject) && events.message(subject, payload),
      state: events.state,
    };
    broker.join(this.#member);
  }

  async publish(subject: string, payload: Uint8Array): Promise<void> {
    this.#broker.send(subject, payload);
  }

  async listen(subject: string): Promise<void> {
    await this.#broker.settle();
    this.#subjects.add(subject);
  }

  async unlisten(subject: string): Promise<void> {
    this.#subjects.delete(subject);
  }

  async close(): Promise<void> {
    this.#broker.leave(this.#member);
  }
}

/**
 * Creates a bus within this process that exchanges messages with all other buses on the same broker; without a broker
 * it is alone. This is the reference implementation for adapters.
 *
 * @throws InvalidConfigError when an option is invalid.
 */
export async function memoryBus(broker: Broker = memoryBroker(), options?: DriverBusOptions): Promise<MessageBus> {
  const state = broker.running ? "ready" : "connecting";
  return new DriverBus((events) => new MemoryDriver(broker, events), state, options);
}
