import type { BusDriver, BusEvents } from "./driver.ts";
import type { BusCapabilities, MessageBus, Subscription } from "./message-bus.ts";

/** A driver that forwards to another bus; the base of wrappers. The bus below is lent and stays open. */
export class RelayDriver implements BusDriver {
  readonly #bus: MessageBus;
  readonly #events: BusEvents;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #stopListening: () => void;

  constructor(bus: MessageBus, events: BusEvents) {
    this.#bus = bus;
    this.#events = events;
    this.#stopListening = bus.onState(events.state);
  }

  get name(): string {
    return this.#bus.name;
  }

  get supports(): BusCapabilities {
    return this.#bus.supports;
  }

  get awayReason(): string | undefined {
    return this.#bus.awayReason;
  }

  publish(subject: string, payload: Uint8Array): Promise<void> {
    return this.#bus.publish(this.nameBelow(subject), payload);
  }

  async listen(subject: string): Promise<void> {
    const receive = (payload: Uint8Array): void => this.receive(subject, payload);
    this.#subscriptions.set(subject, await this.#bus.subscribe(this.nameBelow(subject), receive));
  }

  async unlisten(subject: string): Promise<void> {
    await this.#subscriptions.get(subject)?.unsubscribe();
    this.#subscriptions.delete(subject);
  }

  async close(): Promise<void> {
    this.#stopListening();
    await Promise.all([...this.#subscriptions.values()].map((subscription) => subscription.unsubscribe()));
  }

  /** Returns the subject to use on the bus below. */
  protected nameBelow(subject: string): string {
    return subject;
  }

  /** Handles a message from the bus below. */
  protected receive(subject: string, payload: Uint8Array): void {
    this.#events.message(subject, payload);
  }
}
