import type { BusCapabilities, BusDriver, BusEvents } from "@hivepace/bus";
import { warn } from "@hivepace/core/internal";
import { answers, isRefusal, isReply, type RedisClient } from "./client.ts";
import type { Connections } from "./connections.ts";
import { Link, type LinkOptions } from "./link.ts";

/** What a bus on Redis pub/sub promises. */
export const redisPubSubSupports: BusCapabilities = Object.freeze({
  delivery: "at-most-once",
  ordering: "per-publisher",
  echo: true,
  replay: false,
  // Redis would take 512 MB; a subscriber that is 8 MB behind for a minute is disconnected.
  maxPayloadBytes: 1_048_576,
});

export interface DriverOptions extends Pick<LinkOptions, "timeoutMs" | "pingIntervalMs" | "clock"> {
  /** An attempt failed, or the last one did: then the state becomes `closed`. */
  trouble(error: unknown): void;
}

/** Someone waits for Redis to confirm a subject, or did. */
interface Waiter {
  confirmed: boolean;
  resolve(): void;
  reject(error: unknown): void;
}

/** PUBLISH on one connection, SUBSCRIBE on another: a channel is named as its subject, byte for byte. */
export class RedisPubSubDriver implements BusDriver {
  readonly name = "redis-pubsub";
  readonly supports = redisPubSubSupports;
  readonly #connections: Connections;
  readonly #events: BusEvents;
  readonly #options: DriverOptions;
  readonly #publisher: Link;
  readonly #subscriber: Link;
  readonly #subjects = new Map<string, Waiter>();
  /** What subscribes now; not necessarily all subjects yet. */
  #session: RedisClient | undefined;
  #wasReady = false;
  /** Redis closed the subscriber's connection and, so far, no other. */
  #singledOut = false;

  constructor(connections: Connections, events: BusEvents, options: DriverOptions) {
    this.#connections = connections;
    this.#events = events;
    this.#options = options;
    const over = (error: unknown) => this.#over(error);
    this.#publisher = new Link(
      { ...options, open: () => connections.publisher(), keeps: () => true, greet: answers },
      { up: () => this.#update(), down: (error) => this.#publisherDown(error), over },
    );
    this.#subscriber = new Link(
      { ...options, open: () => connections.subscriber(), keeps: connections.keeps, greet: this.#subscribeAll },
      { up: () => this.#subscriberUp(), down: (error, byRedis) => this.#subscriberDown(error, byRedis), over },
    );
    // The bus must be complete before it hears of anything.
    queueMicrotask(() => this.#start());
  }

  async publish(subject: string, payload: Uint8Array): Promise<void> {
    const client = this.#publisher.client;
    // A lent client would keep it and send it when Redis is back.
    if (client?.status !== "ready") throw new Error(`its connection is ${client?.status ?? "lost"}`);
    await client.publish(subject, Buffer.from(payload));
  }

  listen(subject: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#subjects.set(subject, { confirmed: false, resolve, reject });
      // One that fails with its connection is asked for again on the next.
      if (this.#session) this.#subscribe(this.#session, subject).catch(() => {});
    });
  }

  async unlisten(subject: string): Promise<void> {
    this.#subjects.delete(subject);
    await this.#session?.unsubscribe(subject);
  }

  async close(): Promise<void> {
    await Promise.all([this.#publisher.close(), this.#subscriber.close(), this.#connections.close()]);
  }

  #start(): void {
    this.#connections.start((error) => (isRefusal(error) ? this.#over(error) : this.#trouble(error)));
    this.#publisher.start();
    this.#subscriber.start();
  }

  readonly #subscribeAll = async (client: RedisClient): Promise<void> => {
    this.#session = client;
    client.on("messageBuffer", this.#onMessage);
    await Promise.all([...this.#subjects.keys()].map((subject) => this.#subscribe(client, subject)));
  };

  async #subscribe(client: RedisClient, subject: string): Promise<void> {
    const waiter = this.#subjects.get(subject);
    try {
      await client.subscribe(subject);
    } catch (error) {
      if (!isReply(error)) throw error;
      if (this.#subjects.get(subject) === waiter) this.#subjects.delete(subject);
      if (waiter?.confirmed)
        warn("HIVEPACE_BUS_REFUSED", `Redis refuses a subscription that it had accepted: ${error.message}`, error);
      waiter?.reject(error);
      return;
    }
    if (!waiter) return;
    waiter.confirmed = true;
    waiter.resolve();
  }

  readonly #onMessage = (...args: unknown[]): void => {
    const [channel, { buffer, byteOffset, length }] = args as [Buffer, Buffer];
    this.#events.message(channel.toString(), new Uint8Array(buffer, byteOffset, length));
  };

  #publisherDown(error: unknown): void {
    this.#singledOut = false;
    this.#trouble(error);
    this.#update();
  }

  #subscriberDown(error: unknown, byRedis: boolean): void {
    // It may be dead only to us, and still deliver.
    this.#session?.off("messageBuffer", this.#onMessage);
    this.#session = undefined;
    if (byRedis && this.#connections.oneServer) this.#singledOut = this.#publisher.client !== undefined;
    this.#trouble(error);
    this.#update();
  }

  #subscriberUp(): void {
    if (this.#singledOut)
      warn(
        "HIVEPACE_BUS_DROPPED",
        "Redis closed the subscribing connection of the redis-pubsub bus and no other: its handlers may be too slow (client-output-buffer-limit pubsub), or someone ended it; messages may be lost",
      );
    this.#singledOut = false;
    this.#update();
  }

  #trouble(error: unknown): void {
    if (error !== undefined) this.#options.trouble(error);
  }

  #over(error: unknown): void {
    this.#trouble(error);
    this.#events.state("closed");
  }

  #update(): void {
    const ready = this.#publisher.client !== undefined && this.#subscriber.client !== undefined;
    this.#wasReady ||= ready;
    this.#events.state(ready ? "ready" : this.#wasReady ? "interrupted" : "connecting");
  }
}
