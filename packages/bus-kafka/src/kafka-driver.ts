import type { BusCapabilities, BusDriver, BusEvents } from "@hivepace/bus";
import type { KafkaBatch, LinkClient } from "./client.ts";
import { decodeFrame, encodeFrame } from "./frame.ts";
import { Inbox } from "./inbox.ts";
import type { KafkaLink } from "./kafka-link.ts";
import { LinkKeeper } from "./link-keeper.ts";
import type { KafkaSettings } from "./options.ts";

/** The guarantees of a bus on Kafka. */
export const kafkaSupports: BusCapabilities = Object.freeze({
  delivery: "at-least-once",
  ordering: "per-publisher",
  echo: true,
  replay: false,
  // Together with its frame, such a payload fits into a broker's default limit of 1,048,588 bytes.
  maxPayloadBytes: 1_000_000,
});

export class KafkaDriver implements BusDriver {
  readonly name = "kafka";
  readonly supports = kafkaSupports;
  readonly #events: BusEvents;
  readonly #inbox = new Inbox();
  readonly #keeper: LinkKeeper;

  constructor(clients: () => LinkClient, settings: KafkaSettings, events: BusEvents) {
    this.#events = events;
    const batch = (records: KafkaBatch, link: KafkaLink): void => this.#receive(records, link);
    this.#keeper = new LinkKeeper({ clients, settings, inbox: this.#inbox, state: events.state, batch });
  }

  get awayReason(): string | undefined {
    return this.#keeper.awayReason;
  }

  /** See `LinkKeeper.opened`. */
  get opened(): Promise<void> {
    return this.#keeper.opened;
  }

  async publish(subject: string, payload: Uint8Array): Promise<void> {
    const { link } = this.#keeper;
    if (!link) throw new Error("there is no connection");
    await link.send(encodeFrame(subject, payload));
  }

  async listen(subject: string): Promise<void> {
    for (;;) {
      const link = await this.#keeper.whenUp();
      try {
        // Records published before this moment may still be in flight, and this subscriber must not receive them.
        this.#inbox.listen(subject, await link.end());
        return;
      } catch {
        await link.lost;
      }
    }
  }

  async unlisten(subject: string): Promise<void> {
    this.#inbox.unlisten(subject);
  }

  close(): Promise<void> {
    return this.#keeper.close();
  }

  #receive(batch: KafkaBatch, link: KafkaLink): void {
    const last = Number(batch.lastOffset());
    // A lower offset means that the topic was recreated. The next link determines the position in the new topic.
    if (last < this.#inbox.next) link.lose(new Error("the topic was replaced"));
    for (const { offset, value } of batch.messages) {
      const at = Number(offset);
      if (!this.#inbox.take(at)) continue;
      const frame = decodeFrame(value);
      if (frame && this.#inbox.wants(frame.subject, at)) this.#events.message(frame.subject, frame.payload);
    }
    // A batch may end with records that kafkajs does not expose, such as control records.
    this.#inbox.take(last);
  }
}
