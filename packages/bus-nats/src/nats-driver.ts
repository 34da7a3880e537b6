import { type BusCapabilities, type BusDriver, type BusEvents, BusUnavailableError } from "@hivepace/bus";
import { warn } from "@hivepace/core/internal";
import {
  endStatus,
  isPing,
  letProcessEnd,
  type NatsConnectionLike,
  type NatsStatusLike,
  type NatsSubscriptionLike,
  refusedPublish,
} from "./client.ts";
import { Rounds } from "./rounds.ts";
import { SlowConsumerWatch } from "./slow-consumer.ts";
import { natsName } from "./subject-names.ts";

/**
 * The guarantees of a bus on NATS. `maxPayloadBytes` is the server's default; a connected bus reports its server's own
 * limit.
 */
export const natsSupports: BusCapabilities = Object.freeze({
  delivery: "at-most-once",
  ordering: "per-publisher",
  echo: true,
  replay: false,
  maxPayloadBytes: 1_048_576,
});

/** A source of the connection that also releases it. */
export interface Link {
  /** The reason why the first attempt to connect failed. */
  readonly awayReason?: string | undefined;
  /** Resolves once the connection is established, without a time limit; rejects when it never will be. */
  open(): Promise<NatsConnectionLike>;
  close(): Promise<void>;
  /** Whether the bus opened the connection, which then does not keep the process alive. */
  readonly isOwn: boolean;
}

/** A subject that the bus listens to. */
interface Ear {
  subscription?: NatsSubscriptionLike;
  confirmed?: boolean;
  refusal?: Error;
}

export class NatsDriver implements BusDriver {
  readonly name = "nats";
  readonly #link: Link;
  readonly #events: BusEvents;
  readonly #ears = new Map<string, Ear>();
  readonly #rounds = new Rounds(() => this.#connection?.flush() ?? Promise.reject(this.#away()));
  readonly #slow = new SlowConsumerWatch();
  #connection: NatsConnectionLike | undefined;
  #status: AsyncIterable<NatsStatusLike> | undefined;
  #supports = natsSupports;
  #whenReady: (() => void)[] = [];
  /** Counts disconnects and reconnects, so that a flush started before the latest one can be ignored. */
  #attempt = 0;
  #wasReady = false;
  #closed = false;

  constructor(link: Link, events: BusEvents) {
    this.#link = link;
    this.#events = events;
    link
      .open()
      .then((connection) => this.#closed || this.#attach(connection))
      .catch((error: unknown) => this.#over(error));
  }

  /** Known for the first connection only: the client does not tell why an attempt to reconnect failed. */
  get awayReason(): string | undefined {
    return this.#wasReady ? undefined : this.#link.awayReason;
  }

  get supports(): BusCapabilities {
    const maxPayloadBytes = this.#connection?.info?.max_payload;
    if (maxPayloadBytes !== undefined && maxPayloadBytes !== this.#supports.maxPayloadBytes)
      this.#supports = Object.freeze({ ...natsSupports, maxPayloadBytes });
    return this.#supports;
  }

  async publish(subject: string, payload: Uint8Array): Promise<void> {
    if (!this.#connection) throw this.#away();
    const name = natsName(subject);
    const round = this.#rounds.join();
    // The client reads the bytes later, so it gets a copy. `slice` is no alternative: for a Buffer it shares the bytes.
    this.#connection.publish(name, new Uint8Array(payload));
    await round.done;
    if (round.refused.has(name)) throw new BusUnavailableError(this.name, `the server refused a message to ${name}`);
  }

  async listen(subject: string): Promise<void> {
    const ear: Ear = {};
    this.#ears.set(subject, ear);
    try {
      if (this.#connection) {
        this.#subscribe(this.#connection, subject, ear);
        await this.#connection.flush().catch(() => this.#untilReady());
      } else await this.#untilReady();
      if (ear.refusal) throw ear.refusal;
      ear.confirmed = true;
    } catch (error) {
      this.#ears.delete(subject);
      throw error;
    }
  }

  async unlisten(subject: string): Promise<void> {
    this.#ears.get(subject)?.subscription?.unsubscribe();
    this.#ears.delete(subject);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const subject of [...this.#ears.keys()]) await this.unlisten(subject);
    if (this.#status) endStatus(this.#status);
    this.#connection = undefined;
    await this.#link.close();
  }

  #attach(connection: NatsConnectionLike): void {
    this.#connection = connection;
    if (this.#link.isOwn) letProcessEnd(connection);
    this.#status = connection.status();
    this.#watch(this.#status, connection);
    // A promise cannot be unsubscribed from, and a lent connection may outlive many buses, so the callback holds the
    // driver weakly.
    const driver = new WeakRef(this);
    connection.closed().then((error) => {
      const alive = driver.deref();
      if (alive) alive.#over(error);
    });
    for (const [subject, ear] of this.#ears) this.#subscribe(connection, subject, ear);
    this.#confirm();
  }

  async #watch(statuses: AsyncIterable<NatsStatusLike>, connection: NatsConnectionLike): Promise<void> {
    for await (const status of statuses) {
      if (this.#closed) return;
      const refused = refusedPublish(status);
      if (refused !== undefined) this.#rounds.refuse(refused);
      if (status.type === "disconnect") {
        this.#attempt++;
        this.#slow.dropped();
        if (this.#wasReady) this.#events.state("interrupted");
      }
      if (this.#link.isOwn && (status.type === "reconnect" || isPing(status))) letProcessEnd(connection);
      if (status.type === "reconnect") this.#confirm();
    }
  }

  /**
   * Becomes ready after one round trip, which proves that the server has also processed the subscriptions sent before
   * it.
   */
  #confirm(): void {
    const attempt = ++this.#attempt;
    const ready = (): void => {
      if (attempt !== this.#attempt || this.#closed) return;
      this.#wasReady = true;
      this.#events.state("ready");
      for (const resolve of this.#whenReady.splice(0)) resolve();
    };
    // A connection that breaks during the flush reports that through its status.
    this.#connection?.flush().then(ready, () => {});
  }

  #untilReady(): Promise<void> {
    return new Promise((resolve) => this.#whenReady.push(resolve));
  }

  #subscribe(connection: NatsConnectionLike, subject: string, ear: Ear): void {
    ear.subscription = connection.subscribe(natsName(subject), {
      callback: (error, message) => {
        if (error) this.#deafen(subject, ear, error);
        else {
          this.#slow.message();
          this.#events.message(subject, message.data);
        }
      },
    });
  }

  #deafen(subject: string, ear: Ear, refusal: Error): void {
    ear.refusal = refusal;
    if (ear.confirmed)
      warn("HIVEPACE_BUS_REFUSED", `the nats bus may no longer receive ${subject}: ${refusal.message}`, refusal);
  }

  #away(): BusUnavailableError {
    return new BusUnavailableError(this.name, "there is no connection");
  }

  /** Handles an end of the connection that the bus did not ask for. */
  #over(error: unknown): void {
    if (this.#closed) return;
    if (error)
      warn("HIVEPACE_BUS_LOST", `the nats bus is closed because its connection ended: ${String(error)}`, error);
    this.#events.state("closed");
  }
}
