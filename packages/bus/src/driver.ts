import type { BusCapabilities, BusState } from "./message-bus.ts";

/**
 * What an adapter fills in: names to broker names, bytes to bytes, broker events to states. All else (checks, fan-out
 * to handlers, deadlines, closing) is done above it, once, by `DriverBus`.
 */
export interface BusDriver {
  readonly name: string;
  readonly supports: BusCapabilities;
  /** Takes the bytes before it returns; resolves when the broker has them. Called only while the state is `ready`. */
  publish(subject: string, payload: Uint8Array): Promise<void>;
  /**
   * Begins to receive a subject; resolves when the broker has confirmed it, however long it is away. Lives on over
   * reconnects. Calls for one subject come one after the other: `listen`, `unlisten`, `listen`.
   */
  listen(subject: string): Promise<void>;
  unlisten(subject: string): Promise<void>;
  /** Ends what the adapter opened. Calls that are under way may stay unanswered. */
  close(): Promise<void>;
}

/** What an adapter tells the bus, at any time once the driver is made, also after `close`. */
export interface BusEvents {
  /** A message for a subject that is received. The bytes must not change afterwards. */
  message(subject: string, payload: Uint8Array): void;
  /** `closed` when it is over for good and nobody asked: a lent client was closed, credentials were withdrawn. */
  state(state: BusState): void;
}
