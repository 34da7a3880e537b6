/** A custom bus, as docs/writing-a-bus.md explains it: the broker is an EventEmitter that can be switched off. */
import { EventEmitter } from "node:events";
import { type BusDriver, type BusEvents, DriverBus, type MessageBus } from "@hivepace/bus";

/** The broker: buses with the same one communicate. */
export class EmitterBroker extends EventEmitter {
  isUp = true;

  constructor() {
    super();
    this.setMaxListeners(0);
  }

  become(isUp: boolean): void {
    this.isUp = isUp;
    this.emit("link", isUp);
  }
}

export async function emitterBus(broker: EmitterBroker): Promise<MessageBus> {
  return new DriverBus((events) => new EmitterDriver(broker, events), broker.isUp ? "ready" : "connecting");
}

class EmitterDriver implements BusDriver {
  readonly name = "emitter";
  readonly supports = {
    delivery: "at-most-once",
    ordering: "per-publisher",
    echo: true,
    replay: false,
    maxPayloadBytes: 65_536,
  } as const;
  readonly #broker: EmitterBroker;
  readonly #events: BusEvents;
  readonly #heard = new Map<string, (payload: Uint8Array) => void>();
  readonly #onLink = (isUp: boolean): void => this.#events.state(isUp ? "ready" : "interrupted");

  constructor(broker: EmitterBroker, events: BusEvents) {
    this.#broker = broker;
    this.#events = events;
    broker.on("link", this.#onLink);
  }

  async publish(subject: string, payload: Uint8Array): Promise<void> {
    // A copy, because the caller may reuse its buffer. A microtask, because delivery must not happen within the
    // publisher's call.
    const copy = new Uint8Array(payload);
    queueMicrotask(() => this.#broker.emit(`on ${subject}`, copy));
  }

  async listen(subject: string): Promise<void> {
    const hear = (payload: Uint8Array): void => this.#events.message(subject, payload);
    this.#heard.set(subject, hear);
    this.#broker.on(`on ${subject}`, hear);
  }

  async unlisten(subject: string): Promise<void> {
    const hear = this.#heard.get(subject);
    if (hear) this.#broker.off(`on ${subject}`, hear);
    this.#heard.delete(subject);
  }

  /** The broker was lent and stays open; the bus removes only its own listeners. */
  async close(): Promise<void> {
    this.#broker.off("link", this.#onLink);
    for (const subject of [...this.#heard.keys()]) await this.unlisten(subject);
  }
}
