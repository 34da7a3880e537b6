import type { AbortSignalLike } from "@hivepace/core";

/**
 * A broadcast of small messages between agents. Users and the limiter depend on this interface; every implementation
 * passes the suite of `@hivepace/bus/testing`. To implement one, start from `DriverBus`.
 *
 * Obligations of a bus:
 * - A message reaches every subscriber of its subject on every instance, the publisher's own included where
 *   `supports.echo`.
 * - Subjects are exact: `*` and `>` are no wildcards on any broker. Every subject of up to 200 bytes is legal on every
 *   bus.
 * - Once `subscribe` has resolved, no later message, from any publisher, is missed while the bus is ready.
 * - The bus reconnects by itself, without a limit on attempts, and its subscriptions survive.
 * - `publish` neither retries nor queues: it rejects, and the caller decides.
 * - A handler that throws is reported and affects nothing else. No rejection is ever unhandled.
 * - `close` releases resources that the bus opened and leaves lent ones open.
 * - An open bus does not keep the process alive, and neither do its subscriptions; a pending `publish` or `close` does,
 *   and a pending `subscribe` while the bus is ready.
 *
 * Obligations of callers: handlers return quickly and do not change the payload. All methods may be called at any time,
 * concurrently, and from within a handler.
 */
export interface MessageBus extends AsyncDisposable {
  /** The kind of bus, for logs and messages: "nats", "kafka". */
  readonly name: string;
  /** The guarantees of this bus. */
  readonly supports: BusCapabilities;
  /**
   * Resolves when the broker has the message, which says nothing about receivers. The payload is copied or sent before
   * `publish` returns; the caller may reuse the buffer at once.
   *
   * @throws BusUnavailableError within bounded time while the broker is away.
   * @throws BusClosedError when the bus is closed before or during the call.
   * @throws BusPayloadTooLargeError when the payload exceeds `supports.maxPayloadBytes`.
   * @throws BusSubjectInvalidError when the subject is invalid.
   */
  publish(subject: string, payload: Uint8Array): Promise<void>;
  /**
   * Resolves when the broker has confirmed the subscription; while the broker is away, this happens after its return.
   * The signal ends the subscription, or the wait for it.
   *
   * @throws BusClosedError when the bus is closed before or during the call.
   * @throws BusUnavailableError when the broker refuses the subscription.
   * @throws BusSubjectInvalidError when the subject is invalid.
   */
  subscribe(subject: string, handler: MessageHandler, options?: SubscribeOptions): Promise<Subscription>;
  /** The current state; {@link MessageBus.onState} reports changes. */
  readonly state: BusState;
  /** Calls the listener at every change of `state`. Returns a function that removes the listener. */
  onState(listener: (state: BusState) => void): () => void;
  /**
   * The latest reason why the broker cannot be reached, such as `connect ECONNREFUSED 127.0.0.1:6379`, without
   * credentials. Undefined while the bus is ready, and where the client library does not tell.
   */
  readonly awayReason?: string | undefined;
  /** Ends all subscriptions; no handler is called afterwards. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** Called with one message at a time. A handler must return quickly and must not change the payload. */
export type MessageHandler = (payload: Uint8Array) => void;

/** Options of `subscribe`. */
export interface SubscribeOptions {
  /** Ends the subscription, or the wait for it, when aborted. */
  signal?: AbortSignalLike | undefined;
}

/** A live subscription; disposing of it is the same as `unsubscribe`. */
export interface Subscription extends AsyncDisposable {
  /** Ends the subscription; the handler is not called afterwards. Idempotent; never rejects. */
  unsubscribe(): Promise<void>;
}

/**
 * The state of the connection to the broker:
 * - `connecting`: the first connection is not established yet
 * - `ready`: messages flow
 * - `interrupted`: the broker is away; the bus reconnects by itself
 * - `closed`: final
 */
export type BusState = "connecting" | "ready" | "interrupted" | "closed";

/** The guarantees of a bus, readable at run time, so that tests and users need not consult the documentation. */
export interface BusCapabilities {
  /**
   * Delivery to a subscriber that is away for a while: `at-most-once` may lose the message, `at-least-once` may repeat
   * it.
   */
  readonly delivery: "at-most-once" | "at-least-once";
  /** Whether messages of one publisher arrive in the order in which they were published. */
  readonly ordering: "none" | "per-publisher";
  /** Whether an instance receives its own messages. */
  readonly echo: boolean;
  /**
   * Whether a new subscriber receives earlier messages. Without replay, a new subscriber may still receive a message
   * that is in flight to an instance which already listens to the subject.
   */
  readonly replay: boolean;
  /** The largest payload that `publish` accepts, in bytes. */
  readonly maxPayloadBytes: number;
}
