import { type BusDriver, type BusEvents, DriverBus, type MessageBus } from "@hivepace/bus";
import type { Clock } from "@hivepace/core";
import type { Network } from "./network.ts";

/** A message of a real bus, as the simulated network carries it. */
export interface BusMessage {
  readonly subject: string;
  readonly payload: Uint8Array;
  /** Position among all published messages: later subscriptions do not receive the message. */
  readonly order: number;
}

const SUPPORTS = Object.freeze({
  delivery: "at-most-once",
  ordering: "none",
  echo: true,
  replay: false,
  maxPayloadBytes: 1_048_576,
} as const);

/**
 * The connection of one simulated process to the simulated network, presented as the message bus that hives and
 * limiters use. Loss, duplicates, delays and reordering happen silently; only a bus outage for all is reported as an
 * interruption.
 */
export class BusPort {
  readonly bus: MessageBus;
  readonly #driver: PortDriver;

  constructor(network: Network, index: number, clock: Clock, onPublish: (message: BusMessage) => void = () => {}) {
    let driver: PortDriver | undefined;
    this.bus = new DriverBus(
      (events) => {
        driver = new PortDriver(network, index, events, onPublish);
        return driver;
      },
      network.isDown ? "connecting" : "ready",
      { clock },
    );
    this.#driver = driver as unknown as PortDriver;
  }

  /** Delivers a message to this process. */
  receive(message: BusMessage): void {
    this.#driver.receive(message);
  }

  /** Disconnects without a goodbye: nothing is sent or received any more. */
  cut(): void {
    void this.#driver.close();
  }
}

class PortDriver implements BusDriver {
  readonly name = "simulated";
  readonly supports = SUPPORTS;
  readonly #network: Network;
  readonly #index: number;
  readonly #events: BusEvents;
  readonly #onPublish: (message: BusMessage) => void;
  /** Subscribed subjects, each with the number of the last message published before the subscription. */
  readonly #subjects = new Map<string, number>();
  readonly #stopListening: () => void;
  #isOpen = true;

  constructor(network: Network, index: number, events: BusEvents, onPublish: (message: BusMessage) => void) {
    this.#network = network;
    this.#index = index;
    this.#events = events;
    this.#onPublish = onPublish;
    this.#stopListening = network.onDown((isDown) => events.state(isDown ? "interrupted" : "ready"));
  }

  async publish(subject: string, payload: Uint8Array): Promise<void> {
    if (!this.#isOpen) return;
    const message = { subject, payload: new Uint8Array(payload), order: this.#network.published + 1 };
    this.#onPublish(message);
    this.#network.broadcast(this.#index, message);
  }

  /** Confirms the subscription at once, or when the network is back. */
  async listen(subject: string): Promise<void> {
    await this.#network.up();
    this.#subjects.set(subject, this.#network.published);
  }

  async unlisten(subject: string): Promise<void> {
    this.#subjects.delete(subject);
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    this.#stopListening();
    this.#subjects.clear();
  }

  receive({ subject, payload, order }: BusMessage): void {
    if (this.#isOpen && order > (this.#subjects.get(subject) ?? Infinity)) this.#events.message(subject, payload);
  }
}
