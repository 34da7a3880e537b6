import type { Clock } from "@hivepace/core";
import { answers, isRefusal, keepAlive } from "@hivepace/redis-client";
import type { RedisClient } from "@hivepace/redis-client/types";
import { backOffMs } from "./back-off.ts";
import type { Connection } from "./connections.ts";
import { ended } from "./ended.ts";

export interface LinkOptions {
  /** Returns a connection, or `undefined` if none is available now. Throws when there will never be one again. */
  open(): Connection | undefined;
  /** Whether this connection is still the one to use. */
  keeps(client: RedisClient): boolean;
  /** Sends the first commands; the link is up once they are answered. */
  greet(client: RedisClient): Promise<unknown>;
  /** Milliseconds that Redis may take to answer. */
  readonly timeoutMs: number;
  readonly pingIntervalMs: number;
  readonly clock: Clock;
}

export interface LinkEvents {
  up(): void;
  /**
   * The link was lost or could not be opened, and a retry is scheduled. Without an error there was no server to connect
   * to. `byRedis`: the server closed a link that was up.
   */
  down(error: unknown, byRedis: boolean): void;
  /** The link has failed for good; there is no retry. */
  over(error: unknown): void;
}

/** Maintains a connection: opens it, checks it with pings, and replaces it when it is lost. */
export class Link {
  readonly #options: LinkOptions;
  readonly #events: LinkEvents;
  #connection: Connection | undefined;
  #up = false;
  #closed = false;
  #failures = 0;
  #error: unknown;
  #cancel = (): void => {};

  constructor(options: LinkOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
  }

  /** The client, while the link is up. */
  get client(): RedisClient | undefined {
    return this.#up ? this.#connection?.client : undefined;
  }

  start(): void {
    if (this.#closed) return;
    try {
      this.#connection = this.#options.open();
    } catch (error) {
      this.#end(error);
      return;
    }
    this.#error = undefined;
    if (this.#connection) this.#watch(this.#connection);
    else this.#lose(undefined, false);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel();
    const left = this.#leave();
    if (left?.ours) await ended(left.client);
  }

  #watch({ client, ours }: Connection): void {
    this.#expectAnswer();
    client.on("ready", this.#onReady);
    client.on("close", this.#onClose);
    client.on("end", this.#onClose);
    // Errors of a lent client are its owner's to handle.
    if (ours) client.on("error", this.#onError);
    if (client.status === "ready") this.#onReady();
    else if (client.status === "wait") client.connect().catch(() => {});
  }

  readonly #onReady = (): void => {
    const connection = this.#connection;
    if (!connection) return;
    if (connection.ours) keepAlive(connection.client, false);
    const answer = this.#options.greet(connection.client);
    this.#follow(answer, () => {
      this.#up = true;
      this.#failures = 0;
      this.#pingLater(connection.client);
      this.#events.up();
    });
  };

  readonly #onError = (error: unknown): void => {
    this.#error = error;
    if (isRefusal(error)) this.#lose(error, false);
  };

  /** A client of node-redis passes the reason; ioredis has emitted it as an error before. */
  readonly #onClose = (reason?: unknown): void =>
    this.#lose(reason ?? this.#error ?? new Error("the connection was closed"), true);

  /** Schedules a ping. A dead connection may not report anything; only an answer proves that it works. */
  #pingLater(client: RedisClient): void {
    this.#after(this.#options.pingIntervalMs, () => {
      this.#expectAnswer();
      if (this.#options.keeps(client)) this.#follow(answers(client), () => this.#pingLater(client));
      else this.#lose(new Error("the node left the Cluster"), false);
    });
  }

  #expectAnswer(): void {
    const { timeoutMs } = this.#options;
    this.#after(timeoutMs, () => this.#lose(this.#error ?? new Error(`no answer within ${timeoutMs} ms`), false));
  }

  /** Continues after the answer, unless the connection was replaced meanwhile. */
  #follow(answer: Promise<unknown>, then: () => void): void {
    const connection = this.#connection;
    answer.then(
      () => this.#connection === connection && then(),
      (error) => this.#connection === connection && this.#lose(error, true),
    );
  }

  #lose(error: unknown, byRedis: boolean): void {
    const wasUp = this.#up;
    this.#leave();
    if (this.#closed) return;
    if (isRefusal(error)) {
      this.#end(error);
      return;
    }
    // Checking again for a server is free, so a missing server does not increase the backoff.
    this.#after(backOffMs(error === undefined ? 0 : this.#failures++), () => this.start());
    this.#events.down(error, byRedis && wasUp);
  }

  #end(error: unknown): void {
    this.#closed = true;
    this.#cancel();
    this.#events.over(error);
  }

  #leave(): Connection | undefined {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#up = false;
    if (!connection) return undefined;
    const { client, ours } = connection;
    client.off("ready", this.#onReady);
    client.off("close", this.#onClose);
    client.off("end", this.#onClose);
    client.off("error", this.#onError);
    if (ours) client.disconnect();
    return connection;
  }

  /** Starts the only timer, which does not keep the process alive; an earlier one is cancelled. */
  #after(ms: number, callback: () => void): void {
    this.#cancel();
    this.#cancel = this.#options.clock.after(ms, callback, { background: true });
  }
}
