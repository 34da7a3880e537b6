import type { BusCapabilities, BusDriver, BusEvents } from "@hivepace/bus";
import { warn } from "@hivepace/core/internal";
import { answers, describeError, isRefusal, isReply } from "@hivepace/redis-client";
import type { RedisClient } from "@hivepace/redis-client/types";
import type { Connections } from "./connections.ts";
import { Link, type LinkOptions } from "./link.ts";

/** The guarantees of a bus on Redis pub/sub. */
export const redisPubSubSupports: BusCapabilities = Object.freeze({
  delivery: "at-most-once",
  ordering: "per-publisher",
  echo: true,
  replay: false,
  // Redis accepts 512 MB, but disconnects a subscriber that is 8 MB behind for a minute.
  maxPayloadBytes: 1_048_576,
});

export interface DriverOptions extends Pick<LinkOptions, "timeoutMs" | "pingIntervalMs" | "clock"> {
  /** Reports a failed attempt. If the attempt was the last one, the state then becomes `closed`. */
  trouble(error: unknown): void;
}

/** A subject, and the pending or settled promise of its first confirmation by Redis. */
interface Waiter {
  confirmed: boolean;
  resolve(): void;
  reject(error: unknown): void;
}

/** Publishes on one connection and subscribes on another. The name of a channel equals its subject, byte for byte. */
export class RedisPubSubDriver implements BusDriver {
  readonly name = "redis-pubsub";
  readonly supports = redisPubSubSupports;
  awayReason: string | undefined;
  readonly #connections: Connections;
  readonly #events: BusEvents;
  readonly #options: DriverOptions;
  readonly #publisher: Link;
  readonly #subscriber: Link;
  readonly #subjects = new Map<string, Waiter>();
  /** The client of the current subscriber link, which may not have subscribed to all subjects yet. */
  #session: RedisClient | undefined;
  #wasReady = false;
  /** True after Redis closed the subscriber's connection while the publisher's stayed up. */
  #singledOut = false;

  constructor(connections: Connections, events: BusEvents, options: DriverOptions) {
    this.#connections = connections;
    this.#events = events;
    this.#options = options;
    const over = (error: unknown) => this.#over(error);
    this.#publisher = new Link(
      { ...options, open: () => connections.publisher(), keeps: connections.keeps, greet: answers },
      { up: () => this.#update(), down: (error) => this.#publisherDown(error), over },
    );
    this.#subscriber = new Link(
      { ...options, open: () => connections.subscriber(), keeps: connections.keeps, greet: this.#subscribeAll },
      { up: () => this.#subscriberUp(), down: (error, byRedis) => this.#subscriberDown(error, byRedis), over },
    );
    // Events must not arrive before the bus is constructed.
    queueMicrotask(() => this.#start());
  }

  async publish(subject: string, payload: Uint8Array): Promise<void> {
    const client = this.#publisher.client;
    // Without this check a lent client would queue the message and send it when Redis is back.
    if (client?.status !== "ready") throw new Error(`its connection is ${client?.status ?? "lost"}`);
    await client.publish(subject, Buffer.from(payload));
  }

  listen(subject: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#subjects.set(subject, { confirmed: false, resolve, reject });
      // A subscription that fails with its connection is repeated on the next connection.
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
    // A connection that timed out may still deliver messages.
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
        "Redis closed the subscribing connection of the redis-pubsub bus and no other: its handlers may be too slow (client-output-buffer-limit pubsub), or an administrator closed it; messages may be lost",
      );
    this.#singledOut = false;
    this.#update();
  }

  #trouble(error: unknown): void {
    if (error === undefined) return;
    this.awayReason = describeError(error);
    this.#options.trouble(error);
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
