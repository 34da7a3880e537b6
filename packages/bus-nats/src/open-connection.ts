import { BusUnavailableError } from "@hivepace/bus";
import { endConnection, type NatsConnectionLike } from "./client.ts";

/** What is used of a client library. */
export interface NatsLibrary {
  connect(options: Record<string, unknown>): Promise<NatsConnectionLike>;
  nkeyAuthenticator(seed: Uint8Array): unknown;
}

type Importer = () => Promise<unknown>;

const IMPORTERS: readonly Importer[] = [() => import("@nats-io/transport-node"), () => import("nats")];

/** The first client library that is installed. */
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

/** Waits between attempts: short, and never the same for many agents that lost the same server. */
const RECONNECT = { reconnectTimeWait: 250, reconnectJitter: 750 };

/** For a connection of our own: come back however long it takes, and notice within half a minute that nobody answers. */
const DEFAULTS = { maxReconnectAttempts: -1, pingInterval: 10_000, maxPingOut: 2 };

/** Makes one connection that a bus owns, and ends it, whatever state it is in. */
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
      // The client asks before each attempt: the one place where it can be told to stop.
      reconnectDelayHandler: () => {
        if (this.#stopped) throw new Error("the bus was closed");
        return wait();
      },
    };
  }

  /** One attempt at each server; a patient one goes on until it succeeds, is refused, or is stopped. */
  async dial({ patient }: { patient: boolean }): Promise<NatsConnectionLike> {
    const connection = await this.#library.connect({ ...this.#options, waitOnFirstConnect: patient });
    this.#connection = connection;
    if (this.#stopped) await this.stop();
    return connection;
  }

  /** An attempt that is under way ends within its own time. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#connection) await endConnection(this.#connection);
  }
}

function jittered(waitMs: number, jitterMs: number): () => number {
  return () => waitMs + Math.random() * jitterMs;
}
