import type { Clock } from "@hivepace/core";
import { backOffMs } from "./back-off.ts";
import { answers, ended, isRefusal, type RedisClient } from "./client.ts";
import type { Connection } from "./connections.ts";

export interface LinkOptions {
  /** A connection, if there can be one now. Throws when there will never be one again. */
  open(): Connection | undefined;
  /** Whether this connection is still the right one to have. */
  keeps(client: RedisClient): boolean;
  /** What must have been answered before the link is up. */
  greet(client: RedisClient): Promise<unknown>;
  /** How long Redis may take to answer. */
  readonly timeoutMs: number;
  readonly pingIntervalMs: number;
  readonly clock: Clock;
}

export interface LinkEvents {
  up(): void;
  /**
   * Lost, or not opened; it will be tried again. No error: there was nothing to open. `byRedis`: the other end closed a
   * link that was up.
   */
  down(error: unknown, byRedis: boolean): void;
  /** It will not be tried again. */
  over(error: unknown): void;
}

/** A connection that shall always be there: opened, listened to for signs of life, and replaced when it is lost. */
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

  /** The client while the link is up. */
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
    // The errors of a lent client are its owner's.
    if (ours) client.on("error", this.#onError);
    if (client.status === "ready") this.#onReady();
    else if (client.status === "wait") client.connect().catch(() => {});
  }

  readonly #onReady = (): void => {
    const connection = this.#connection;
    if (!connection) return;
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

  readonly #onClose = (): void => this.#lose(this.#error ?? new Error("the connection was closed"), true);

  /** A connection can be dead without a word: only an answer shows that it is not. */
  #pingLater(client: RedisClient): void {
    this.#after(this.#options.pingIntervalMs, () => {
      this.#expectAnswer();
      if (this.#options.keeps(client)) this.#follow(answers(client), () => this.#pingLater(client));
      else this.#lose(new Error("its node left the cluster"), false);
    });
  }

  #expectAnswer(): void {
    const { timeoutMs } = this.#options;
    this.#after(timeoutMs, () => this.#lose(this.#error ?? new Error(`no answer within ${timeoutMs} ms`), false));
  }

  /** Goes on with the answer, if the connection is still the same by then. */
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
    // To look again whether there is something to open costs nothing.
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

  /** There is one thing to wait for at a time. */
  #after(ms: number, callback: () => void): void {
    this.#cancel();
    this.#cancel = this.#options.clock.after(ms, callback);
  }
}
