import { BusUnavailableError } from "@hivepace/bus";
import { endConnection, type NatsConnectionLike } from "./client.ts";

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
  #connection: NatsConnectionLike | undefined;
  #stopped = false;

  constructor(library: NatsLibrary, options: Readonly<Record<string, unknown>>, timeoutMs: number) {
    const { nkey, authenticator, reconnectDelayHandler, ...rest } = options;
    const authenticators: unknown[] = [authenticator ?? []].flat();
    if (typeof nkey === "string") authenticators.push(library.nkeyAuthenticator(new TextEncoder().encode(nkey)));
    const { reconnectTimeWait, reconnectJitter } = { ...RECONNECT, ...rest };
    const wait = (reconnectDelayHandler as (() => number) | undefined) ?? jittered(reconnectTimeWait, reconnectJitter);
    this.#library = library;
    this.#options = {
      timeout: timeoutMs,
      ...DEFAULTS,
      ...rest,
      ...(authenticators.length > 0 && { authenticator: authenticators }),
      // The client calls this handler before each attempt; throwing here is the only way to stop the attempts.
      reconnectDelayHandler: () => {
        if (this.#stopped) throw new Error("the bus was closed");
        return wait();
      },
    };
  }

  /** Tries each server once; with `patient`, tries until it succeeds, is refused, or is stopped. */
  async dial({ patient }: { patient: boolean }): Promise<NatsConnectionLike> {
    const connection = await this.#library.connect({ ...this.#options, waitOnFirstConnect: patient });
    this.#connection = connection;
    if (this.#stopped) await this.stop();
    return connection;
  }

  /** Closes the connection. An attempt in progress ends within its own timeout. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#connection) await endConnection(this.#connection);
  }
}

function jittered(waitMs: number, jitterMs: number): () => number {
  return () => waitMs + Math.random() * jitterMs;
}
