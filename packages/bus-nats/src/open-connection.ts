import { BusUnavailableError } from "@hivepace/bus";
import { systemClock } from "@hivepace/core";
import { endConnection, isRefusal, type NatsConnectionLike, pauseBeforeReconnects } from "./client.ts";

/** The part of a client library that the bus uses. */
export interface NatsLibrary {
  connect(options: Record<string, unknown>): Promise<NatsConnectionLike>;
  nkeyAuthenticator(seed: Uint8Array): unknown;
}

type Importer = () => Promise<unknown>;

/** Each import has its own `try`, so that bundlers accept that only one of the two libraries is installed. */
const IMPORTERS: readonly Importer[] = [
  async () => {
    try {
      return await import("@nats-io/transport-node");
    } catch (error) {
      return Promise.reject(error);
    }
  },
  async () => {
    try {
      return await import("nats");
    } catch (error) {
      return Promise.reject(error);
    }
  },
];

/** Returns the first client library that is installed. */
export async function loadLibrary(importers: readonly Importer[] = IMPORTERS): Promise<NatsLibrary> {
  let missing: unknown;
  for (const load of importers) {
    try {
      return (await load()) as NatsLibrary;
    } catch (error) {
      if (!/MODULE_NOT_FOUND/.test(String((error as { code?: unknown }).code))) throw error;
      missing = error;
    }
  }
  const help = "no client library is installed: npm install @nats-io/transport-node (or nats)";
  throw new BusUnavailableError("nats", help, { cause: missing });
}

/**
 * Waits between attempts in milliseconds: short, and random so that agents which lost the same server do not reconnect
 * simultaneously.
 */
const RECONNECT = { reconnectTimeWait: 250, reconnectJitter: 750 };

/** Defaults of an owned connection: reconnect without limit, and detect a dead server within half a minute. */
const DEFAULTS = { maxReconnectAttempts: -1, pingInterval: 10_000, maxPingOut: 2 };

/** Opens the one connection that a bus owns, and closes it in any state. */
export class Dialer {
  readonly #library: NatsLibrary;
  readonly #options: Record<string, unknown>;
  readonly #wait: () => number;
  /** The time of the latest attempt to reconnect, by server. */
  readonly #attempts = new WeakMap<object, number>();
  #connection: NatsConnectionLike | undefined;
  #pausesItself = false;
  #stopped = false;

  constructor(library: NatsLibrary, options: Readonly<Record<string, unknown>>, timeoutMs: number) {
    const { nkey, authenticator, reconnectDelayHandler, ...rest } = options;
    const authenticators: unknown[] = [authenticator ?? []].flat();
    if (typeof nkey === "string") authenticators.push(library.nkeyAuthenticator(new TextEncoder().encode(nkey)));
    const { reconnectTimeWait, reconnectJitter } = { ...RECONNECT, ...rest };
    const wait = (reconnectDelayHandler as (() => number) | undefined) ?? jittered(reconnectTimeWait, reconnectJitter);
    this.#library = library;
    this.#wait = wait;
    this.#options = {
      timeout: timeoutMs,
      ...DEFAULTS,
      ...rest,
      ...(authenticators.length > 0 && { authenticator: authenticators }),
      // The client calls this handler before each attempt; throwing here is the only way to stop the attempts.
      reconnectDelayHandler: () => {
        if (this.#stopped) throw new Error("the bus was closed");
        return this.#pausesItself ? 0 : wait();
      },
    };
  }

  /** Tries each server once; with `patient`, tries until it succeeds, is refused, or is stopped. */
  async dial({ patient }: { patient: boolean }): Promise<NatsConnectionLike> {
    const connection = await this.#connect(patient);
    this.#connection = connection;
    this.#pausesItself = pauseBeforeReconnects(connection, (server) => this.#pause(server));
    if (this.#stopped) await this.stop();
    return connection;
  }

  async #connect(patient: boolean): Promise<NatsConnectionLike> {
    for (;;) {
      try {
        // The client's own loop, `waitOnFirstConnect`, would keep the process alive.
        return await this.#library.connect({ ...this.#options, waitOnFirstConnect: false });
      } catch (error) {
        if (!patient || this.#stopped || isRefusal(error)) throw error;
        await inBackground(this.#wait());
        if (this.#stopped) throw error;
      }
    }
  }

  /**
   * Keeps the configured time between two attempts at one server; the first follows at once. Between attempts that take
   * longer there is a moment, too, in which the process may end.
   */
  async #pause(server: object): Promise<void> {
    const lastAt = this.#attempts.get(server);
    if (lastAt !== undefined) await inBackground(Math.max(1, lastAt + this.#wait() - systemClock.now()));
    if (this.#stopped) throw new Error("the bus was closed");
    this.#attempts.set(server, systemClock.now());
  }

  /** Closes the connection. An attempt in progress ends within its own timeout. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#connection) await endConnection(this.#connection);
  }
}

/** Waits without keeping the process alive. */
function inBackground(ms: number): Promise<void> {
  return new Promise((resolve) => void systemClock.after(ms, resolve, { background: true }));
}

function jittered(waitMs: number, jitterMs: number): () => number {
  return () => waitMs + Math.random() * jitterMs;
}
