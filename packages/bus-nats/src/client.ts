import { systemClock } from "@hivepace/core";

/**
 * The part of a connection that the bus uses. `nats` 2 and `@nats-io/transport-node` 3 both provide it, and neither is
 * needed to compile against this package.
 */
export interface NatsConnectionLike {
  readonly info?: { readonly max_payload: number } | undefined;
  publish(subject: string, payload: Uint8Array): void;
  subscribe(subject: string, options: { callback: NatsCallback }): NatsSubscriptionLike;
  /** Makes one round trip to the server. Rejects when the connection breaks meanwhile. */
  flush(): Promise<void>;
  status(): AsyncIterable<NatsStatusLike>;
  /** Resolves when the connection has ended for good, with the error that ended it. */
  closed(): Promise<unknown>;
  close(): Promise<void>;
  isClosed(): boolean;
}

/** The callback through which both clients deliver a message, or an error instead of one. */
export type NatsCallback = (error: Error | null, message: { readonly data: Uint8Array }) => void;

/** The part of a subscription that the bus uses, common to both clients. */
export interface NatsSubscriptionLike {
  unsubscribe(): void;
}

/** A status event of a connection, as both clients report it. */
export interface NatsStatusLike {
  readonly type: string;
  /** Version 3, for the type `error`: a refused operation also has `operation` and `subject`. */
  readonly error?: Error;
  /** Version 2, for the type `error`. */
  readonly permissionContext?: { readonly operation: string; readonly subject: string };
}

/** Members that both versions have at run time and neither declares. */
interface Undeclared {
  readonly options?: { readonly noEcho?: boolean };
  readonly protocol?: {
    readonly connected?: boolean;
    /** Makes one attempt to connect to a server. */
    _doDial?(server: object): Promise<void>;
    readonly heartbeats?: { cancel?(): void; readonly timer?: { unref?(): void } };
    readonly transport?: { discard?(): void; readonly socket?: { destroy?(): void; unref?(): void } };
  };
}

/** Milliseconds after which a connection attempt either has its socket or has failed in the network. */
const SOCKET_MS = 1_000;

export function isConnection(source: unknown): source is NatsConnectionLike {
  const { subscribe, flush } = (source ?? {}) as Partial<NatsConnectionLike>;
  return typeof subscribe === "function" && typeof flush === "function";
}

/** Whether the connection receives its own messages. */
export function hearsItself(connection: NatsConnectionLike): boolean {
  return (connection as Undeclared).options?.noEcho !== true;
}

/**
 * Closes a connection, even while it reconnects. `close` alone would not stop that attempt, and the resulting
 * connection would have no owner and keep the process alive.
 */
export async function endConnection(connection: NatsConnectionLike): Promise<void> {
  const { protocol } = connection as Undeclared;
  const isDown = protocol?.connected === false;
  await connection.close();
  if (!isDown) return;
  const abandon = (): void => {
    protocol.transport?.discard?.();
    protocol.transport?.socket?.destroy?.();
    protocol.heartbeats?.cancel?.();
  };
  abandon();
  systemClock.after(SOCKET_MS, abandon, { background: true });
}

/**
 * Lets the process end although the connection is open. Must be repeated after a reconnection, which opens another
 * socket, and after each ping of the client, which sets another timer.
 */
export function letProcessEnd(connection: NatsConnectionLike): void {
  const { protocol } = connection as Undeclared;
  protocol?.transport?.socket?.unref?.();
  protocol?.heartbeats?.timer?.unref?.();
}

/**
 * Runs `pause` before each attempt to reconnect to a server. The client's own waits would keep the process alive. Returns
 * false for a client with other internals, which must wait by itself.
 */
export function pauseBeforeReconnects(
  connection: NatsConnectionLike,
  pause: (server: object) => Promise<void>,
): boolean {
  const { protocol } = connection as Undeclared;
  const dial = protocol?._doDial;
  if (!protocol || typeof dial !== "function") return false;
  protocol._doDial = async (server) => {
    await pause(server);
    try {
      await dial.call(protocol, server);
    } catch (error) {
      // The client ends the socket of a failed attempt, which a server that stands still never confirms.
      protocol.transport?.socket?.unref?.();
      throw error;
    }
  };
  return true;
}

/** Whether this status reports that the client has pinged its server: `ping` in version 3, `pingTimer` in version 2. */
export const isPing = ({ type }: NatsStatusLike): boolean => type === "ping" || type === "pingTimer";

/** Ends the loop over `connection.status()` at once; `return()` would wait for one more status. */
export function endStatus(status: AsyncIterable<NatsStatusLike>): void {
  (status as { stop?(): void }).stop?.();
}

/** Returns the NATS subject of a refused publish if this status reports one. */
export function refusedPublish({ type, error, permissionContext }: NatsStatusLike): string | undefined {
  if (type !== "error") return undefined;
  const { operation, subject } = permissionContext ?? ((error ?? {}) as { operation?: string; subject?: string });
  return operation === "publish" ? subject : undefined;
}

/** Whether the server refused the credentials, so that retrying is pointless. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof Error && /authorization violation|authentication (expired|revoked|error)/i.test(error.message)
  );
}
