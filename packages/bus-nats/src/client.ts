import { systemClock } from "@hivepace/core";

/**
 * What the bus uses of a connection. `nats` 2 and `@nats-io/transport-node` 3 both have it, and neither is needed to
 * compile against this package.
 */
export interface NatsConnectionLike {
  readonly info?: { readonly max_payload: number } | undefined;
  publish(subject: string, payload: Uint8Array): void;
  subscribe(subject: string, options: { callback: NatsCallback }): NatsSubscriptionLike;
  /** One round trip. Rejects when the connection breaks meanwhile. */
  flush(): Promise<void>;
  status(): AsyncIterable<NatsStatusLike>;
  /** Resolves when it is over for good, with the error that ended it. */
  closed(): Promise<unknown>;
  close(): Promise<void>;
  isClosed(): boolean;
}

/** How both clients hand on a message, or say why there is none. */
export type NatsCallback = (error: Error | null, message: { readonly data: Uint8Array }) => void;

/** What we use of a subscription of either client. */
export interface NatsSubscriptionLike {
  unsubscribe(): void;
}

/** What a connection of either client says of itself. */
export interface NatsStatusLike {
  readonly type: string;
  /** Version 3, of `error`: a refused operation also has `operation` and `subject`. */
  readonly error?: Error;
  /** Version 2, of `error`. */
  readonly permissionContext?: { readonly operation: string; readonly subject: string };
}

/** What both versions have at run time and neither declares. */
interface Undeclared {
  readonly options?: { readonly noEcho?: boolean };
  readonly protocol?: {
    readonly connected?: boolean;
    readonly heartbeats?: { cancel?(): void };
    readonly transport?: { discard?(): void; readonly socket?: { destroy?(): void } };
  };
}

/** By then an attempt to connect has got its socket, or the network has no answer for it. */
const SOCKET_MS = 1_000;

export function isConnection(source: unknown): source is NatsConnectionLike {
  const { subscribe, flush } = (source ?? {}) as Partial<NatsConnectionLike>;
  return typeof subscribe === "function" && typeof flush === "function";
}

export function hearsItself(connection: NatsConnectionLike): boolean {
  return (connection as Undeclared).options?.noEcho !== true;
}

/**
 * Ends a connection, also one that is just being made again: `close` leaves that attempt alone, and it would become a
 * connection that nobody holds and that keeps the process alive.
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

/** Ends the loop over `connection.status()` at once; `return()` would wait for one more status. */
export function endStatus(status: AsyncIterable<NatsStatusLike>): void {
  (status as { stop?(): void }).stop?.();
}

/** The NATS name of a subject that may not be published to, if this status says so. */
export function refusedPublish({ type, error, permissionContext }: NatsStatusLike): string | undefined {
  if (type !== "error") return undefined;
  const { operation, subject } = permissionContext ?? ((error ?? {}) as { operation?: string; subject?: string });
  return operation === "publish" ? subject : undefined;
}

/** Whether the server does not want these credentials: trying again would not help. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof Error && /authorization violation|authentication (expired|revoked|error)/i.test(error.message)
  );
}
