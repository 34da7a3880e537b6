import { systemClock } from "@hivepace/core";
import { answers, isLoading } from "../errors.ts";
import { NodeRedisAdapter } from "./commands.ts";
import type { NodeRedisClient } from "./library.ts";

/** Creates a client that is not connected yet. The signal ends its socket, even while the socket is connecting. */
export type Dial = (signal: AbortSignal) => Promise<NodeRedisClient> | NodeRedisClient;

/** Milliseconds between checks whether a server has loaded its data. */
const LOADING_MS = 50;

/**
 * Settings of a socket that is opened once. The delay before a reconnection leaves time to destroy the client instead.
 */
export const onceOnly = (timeoutMs: number, signal: AbortSignal) => ({
  connectTimeout: timeoutMs,
  reconnectStrategy: () => 1,
  signal,
});

/**
 * A connection through node-redis that is opened once, and ends when it is lost. The connection is ready once the
 * server has loaded its data.
 */
export class OwnNodeClient extends NodeRedisAdapter {
  status: "wait" | "connecting" | "ready" | "end" = "wait";
  readonly options: { readonly host?: string; readonly port?: number };
  protected target: NodeRedisClient | undefined;
  readonly #dial: Dial;
  readonly #abort = new AbortController();

  constructor(dial: Dial, address: { readonly host?: string; readonly port?: number } = {}) {
    super();
    this.#dial = dial;
    this.options = address;
  }

  async connect(): Promise<void> {
    if (this.status !== "wait") throw new Error("a connection is opened only once");
    this.status = "connecting";
    try {
      const client = await this.#dial(this.#abort.signal);
      // The listener is never removed, because an error without a listener ends the process.
      client.on("error", (error: unknown) => this.#onError(error));
      client.on("end", () => this.disconnect());
      this.target = client;
      if (!this.#isOver) await client.connect();
      await this.#loaded();
    } catch (error) {
      this.#onError(error);
    }
    if (this.#isOver) throw new Error("the connection could not be opened");
    this.status = "ready";
    this.emit("ready");
  }

  disconnect(): void {
    if (this.#isOver) return;
    this.status = "end";
    const client = this.target;
    if (client?.isOpen) client.destroy();
    this.#abort.abort();
    this.emit("close");
    this.emit("end");
  }

  duplicate(): OwnNodeClient {
    return new OwnNodeClient(this.#dial, this.options);
  }

  protected watch(): () => void {
    return () => {};
  }

  get #isOver(): boolean {
    return this.status === "end";
  }

  #onError(error: unknown): void {
    if (this.#isOver) return;
    this.emit("error", error);
    // Errors on a live connection, for example from a listener, do not end it.
    if (!this.target?.isReady) this.disconnect();
  }

  async #loaded(): Promise<void> {
    while (!this.#isOver) {
      try {
        await answers(this);
        return;
      } catch (error) {
        if (!isLoading(error)) throw error;
        await new Promise<void>((resolve) => void systemClock.after(LOADING_MS, resolve));
      }
    }
  }
}
