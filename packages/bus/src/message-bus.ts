import type { AbortSignalLike } from "@hivepace/core";

/**
 * A broadcast of small messages between agents. This is what users hold and what the limiter stands on; every
 * implementation passes the suite of `@hivepace/bus/testing`. Whoever implements one starts from `DriverBus`.
 *
 * What a bus owes:
 * - A message reaches every subscriber of its subject on every instance, the publisher's own included where `supports.echo`.
 * - Subjects are exact: no wildcard, whatever the broker makes of `*` and `>`. Up to 200 bytes are legal on every bus.
 * - Once `subscribe` has resolved, nothing that is published afterwards, by anyone, is missed while the bus is ready.
 * - It reconnects by itself, for as long as it takes, and its subscriptions live on.
 * - It neither retries nor queues what is published: it rejects, and the caller decides.
 * - A handler that throws is reported and harms nobody. No rejection is ever unhandled.
 * - `close` ends what the bus opened and leaves alone what it was lent.
 *
 * What callers owe: handlers return quickly and do not change the payload. All methods may be called at any time,
 * concurrently, and from within a handler.
 */
export interface MessageBus extends AsyncDisposable {
  /** Which bus it is, for people: "nats", "kafka". */
  readonly name: string;
  readonly supports: BusCapabilities;
  /**
   * Resolves when the broker has the message, not when anyone received it. The payload is copied or sent before
   * `publish` returns; the caller may use the buffer again at once.
   * Rejects with BUS_UNAVAILABLE within bounded time while the broker is away, with BUS_CLOSED, BUS_PAYLOAD_TOO_LARGE
   * or BUS_SUBJECT_INVALID.
   */
  publish(subject: string, payload: Uint8Array): Promise<void>;
  /**
   * Resolves when the broker has confirmed it; while the broker is away, that is when it is back. The signal ends the
   * subscription, or the wait for it. Rejects with BUS_CLOSED, BUS_SUBJECT_INVALID, or BUS_UNAVAILABLE when the broker refuses.
   */
  subscribe(subject: string, handler: MessageHandler, options?: SubscribeOptions): Promise<Subscription>;
  readonly state: BusState;
  /** Calls the listener at every change of `state`. Returns its unsubscribe. */
  onState(listener: (state: BusState) => void): () => void;
  /** Ends all subscriptions; no handler is called afterwards. May be called again; never rejects. */
  close(): Promise<void>;
}

/** Is called with each message, one after the other. It returns quickly and does not change the payload. */
export type MessageHandler = (payload: Uint8Array) => void;

/** The signal ends the subscription, or the wait for it. */
export interface SubscribeOptions {
  signal?: AbortSignalLike | undefined;
}

/** What `subscribe` resolves with, and the way to end it. */
export interface Subscription extends AsyncDisposable {
  /** No message is handed on afterwards. May be called again; never rejects. */
  unsubscribe(): Promise<void>;
}

/**
 * - `connecting`: not yet there for the first time
 * - `ready`: messages flow
 * - `interrupted`: the broker is away; the bus tries to come back by itself
 * - `closed`: for good
 */
export type BusState = "connecting" | "ready" | "interrupted" | "closed";

/** What a bus promises, told by the object itself: tests and users ask it, not the documentation. */
export interface BusCapabilities {
  /** What happens to a message for a subscriber that is away for a while: it may be lost, or it comes, perhaps twice. */
  readonly delivery: "at-most-once" | "at-least-once";
  /** Whether the messages of one publisher arrive in the order in which they were published. */
  readonly ordering: "none" | "per-publisher";
  /** Whether an instance receives what it published itself. */
  readonly echo: boolean;
  /**
   * Whether a new subscriber receives what was published before it came. Where not, it may still hear what is just on its
   * way to an instance that listens to the subject already.
   */
  readonly replay: boolean;
  readonly maxPayloadBytes: number;
}
