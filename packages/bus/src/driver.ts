import type { BusCapabilities, BusState } from "./message-bus.ts";

/**
 * The part of a bus that depends on the broker: maps subjects to broker names, carries bytes, and reports broker events
 * as states. `DriverBus` does the rest once for all adapters: checks, fan-out to handlers, deadlines, closing.
 */
export interface BusDriver {
  readonly name: string;
  readonly supports: BusCapabilities;
  /** The latest reason why the broker cannot be reached, without credentials, where the client library tells one. */
  readonly awayReason?: string | undefined;
  /**
   * Copies or sends the bytes before it returns; resolves when the broker has them. Called only while the state is
   * `ready`.
   */
  publish(subject: string, payload: Uint8Array): Promise<void>;
  /**
   * Begins to receive a subject; resolves when the broker has confirmed the subscription, however long the broker is
   * away. The subscription survives reconnects. Calls for one subject are serialised: `listen`, `unlisten`, `listen`.
   */
  listen(subject: string): Promise<void>;
  /** Stops receiving a subject. */
  unlisten(subject: string): Promise<void>;
  /** Releases the resources that the adapter opened. Calls in flight may stay unanswered. */
  close(): Promise<void>;
}

/**
 * Callbacks from the adapter to the bus. The adapter may call them at any time once the driver exists, even after
 * `close`.
 */
export interface BusEvents {
  /** Delivers a message of a subject that is listened to. The bytes must not change afterwards. */
  message(subject: string, payload: Uint8Array): void;
  /**
   * Reports a new state. `closed` means an end that the bus did not ask for: a lent client was closed, or credentials
   * were revoked.
   */
  state(state: BusState): void;
}
