import { type Clock, InvalidConfigError, isHivepaceError, systemClock } from "@hivepace/core";
import {
  AMOUNT,
  busState,
  checkKnown,
  isAmount,
  Listeners,
  type OptionNames,
  onAbort,
  warn,
} from "@hivepace/core/internal";
import type { BusDriver, BusEvents } from "./driver.ts";
import { BusClosedError, BusPayloadTooLargeError, BusUnavailableError } from "./errors.ts";
import { KeyedQueue } from "./keyed-queue.ts";
import type {
  BusCapabilities,
  BusState,
  MessageBus,
  MessageHandler,
  SubscribeOptions,
  Subscription,
} from "./message-bus.ts";
import { Pending } from "./pending.ts";
import { RelayDriver } from "./relay-driver.ts";
import { checkSubject } from "./subject.ts";

/** Options that every bus accepts, independent of its broker. */
export interface DriverBusOptions {
  /**
   * Milliseconds within which the broker must confirm a message; `publish` rejects afterwards.
   *
   * @defaultValue 5000
   */
  publishTimeoutMs?: number | undefined;
  /**
   * Milliseconds that `close` waits for the driver; afterwards the bus emits a warning and is closed anyway.
   *
   * @defaultValue 5000
   */
  closeTimeoutMs?: number | undefined;
  /**
   * Source of time for both deadlines.
   *
   * @defaultValue the system clock
   */
  clock?: Clock | undefined;
}

const OPTIONS = {
  publishTimeoutMs: true,
  closeTimeoutMs: true,
  clock: true,
} as const satisfies OptionNames<DriverBusOptions>;

const SUBSCRIBE_OPTIONS = { signal: true } as const satisfies OptionNames<SubscribeOptions>;

const DEFAULTS = { publishTimeoutMs: 5_000, closeTimeoutMs: 5_000, clock: systemClock };

interface Handler {
  readonly call: MessageHandler;
}

/** The handlers of one subject, and the promise of the driver that messages of the subject are being received. */
interface Topic {
  readonly handlers: Set<Handler>;
  readonly listening: Promise<void>;
}

/** Implements the whole {@link MessageBus} contract on top of a {@link BusDriver}. */
export class DriverBus implements MessageBus {
  readonly #driver: BusDriver;
  readonly #options: Required<{ [K in keyof DriverBusOptions]: NonNullable<DriverBusOptions[K]> }>;
  readonly #pending: Pending;
  readonly #topics = new Map<string, Topic>();
  readonly #calls = new KeyedQueue<string>();
  readonly #listeners = new Listeners<BusState>();
  #state: BusState;
  #closing: Promise<void> | undefined;

  constructor(open: (events: BusEvents) => BusDriver, initial: BusState, options: DriverBusOptions = {}) {
    this.#options = checkOptions(options);
    const { clock, publishTimeoutMs } = this.#options;
    const late = () => this.#unavailable(`no confirmation within ${publishTimeoutMs} ms`);
    this.#pending = new Pending(clock, publishTimeoutMs, late);
    this.#state = initial;
    this.#pending.isHolding = initial === "ready";
    this.#driver = open({
      message: (subject, payload) => this.#deliver(subject, payload),
      state: (state) => (state === "closed" ? void this.close() : this.#become(state)),
    });
  }

  get name(): string {
    return this.#driver.name;
  }

  get supports(): BusCapabilities {
    return this.#driver.supports;
  }

  get state(): BusState {
    return this.#state;
  }

  get awayReason(): string | undefined {
    return this.#state === "ready" ? undefined : this.#driver.awayReason;
  }

  onState(listener: (state: BusState) => void): () => void {
    return this.#listeners.add(listener);
  }

  async publish(subject: string, payload: Uint8Array): Promise<void> {
    checkSubject(subject);
    if (!(payload instanceof Uint8Array)) throw new InvalidConfigError("payload", "a Uint8Array", payload);
    const { maxPayloadBytes } = this.supports;
    if (payload.length > maxPayloadBytes) throw new BusPayloadTooLargeError(this.name, payload.length, maxPayloadBytes);
    this.#checkOpen();
    if (this.#state !== "ready") {
      const { awayReason } = this;
      throw this.#unavailable(`its state is ${this.#state}${awayReason === undefined ? "" : ` (${awayReason})`}`);
    }
    try {
      await this.#pending.inTime(this.#driver.publish(subject, payload));
    } catch (error) {
      throw this.#ours(error);
    }
  }

  async subscribe(subject: string, handler: MessageHandler, options: SubscribeOptions = {}): Promise<Subscription> {
    checkSubject(subject);
    if (typeof handler !== "function") throw new InvalidConfigError("handler", "a function", handler);
    checkKnown(options, SUBSCRIBE_OPTIONS);
    const { signal } = options;
    if (signal?.aborted) throw signal.reason;
    this.#checkOpen();

    const topic = this.#topics.get(subject) ?? this.#open(subject);
    const entry = { call: handler };
    topic.handlers.add(entry);
    let left: Promise<void> | undefined;
    const unsubscribe = (): Promise<void> => {
      stopListening?.();
      left ??= this.#leave(subject, topic, entry);
      return left;
    };
    const stopListening = signal && onAbort(signal, () => void unsubscribe());
    try {
      await this.#pending.wait(topic.listening, signal);
    } catch (error) {
      void unsubscribe();
      throw error;
    }
    return { unsubscribe, [Symbol.asyncDispose]: unsubscribe };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#topics.clear();
    this.#become("closed");
    this.#listeners.clear();
    this.#pending.endAll(() => new BusClosedError(this.name));
    const { clock, closeTimeoutMs } = this.#options;
    const late = () => this.#unavailable(`closing took longer than ${closeTimeoutMs} ms`);
    try {
      await new Pending(clock, closeTimeoutMs, late).inTime(this.#driver.close());
    } catch (failure) {
      warn("HIVEPACE_BUS_CLOSE", `the ${this.name} bus did not close cleanly: ${String(failure)}`, failure);
    }
  }

  #open(subject: string): Topic {
    const listening = this.#calls
      .run(subject, () => this.#driver.listen(subject))
      .catch((error) => {
        throw this.#ours(error);
      });
    // Every subscriber rejects with the failure through its own wait on `listening`.
    listening.catch(() => this.#topics.get(subject) === topic && this.#topics.delete(subject));
    const topic = { handlers: new Set<Handler>(), listening };
    this.#topics.set(subject, topic);
    return topic;
  }

  async #leave(subject: string, topic: Topic, entry: Handler): Promise<void> {
    topic.handlers.delete(entry);
    if (topic.handlers.size > 0 || this.#topics.get(subject) !== topic) return;
    this.#topics.delete(subject);
    // A failed unlisten needs no report: messages of the subject have no handlers any more.
    await this.#pending.inTime(this.#calls.run(subject, () => this.#driver.unlisten(subject))).catch(() => {});
  }

  #deliver(subject: string, payload: Uint8Array): void {
    const topic = this.#topics.get(subject);
    if (!topic) return;
    for (const handler of [...topic.handlers]) {
      // One handler may have unsubscribed another, or closed the bus.
      if (!topic.handlers.has(handler) || this.#state === "closed") continue;
      try {
        handler.call(payload);
      } catch (error) {
        warn("HIVEPACE_HANDLER_THREW", `a handler of the ${this.name} bus threw: ${String(error)}`, error);
      }
    }
  }

  #become(state: BusState): void {
    if (this.#state === state || this.#state === "closed") return;
    const before = this.#state;
    this.#state = state;
    this.#pending.isHolding = state === "ready";
    // A wrapper publishes nothing: the bus below has already published the change.
    if (busState.hasSubscribers && !(this.#driver instanceof RelayDriver))
      busState.publish({ bus: this.name, state, before });
    this.#listeners.emit(state);
  }

  #checkOpen(): void {
    if (this.#state === "closed") throw new BusClosedError(this.name);
  }

  #unavailable(detail: string, cause?: unknown): BusUnavailableError {
    return new BusUnavailableError(this.name, detail, cause === undefined ? {} : { cause });
  }

  /** Converts a failure of the driver to an error of Hivepace. */
  #ours(error: unknown): unknown {
    if (isHivepaceError(error)) return error;
    return this.#unavailable(error instanceof Error ? error.message : String(error), error);
  }
}

function checkOptions(options: DriverBusOptions) {
  checkKnown(options, OPTIONS);
  const { publishTimeoutMs, closeTimeoutMs } = options;
  for (const [option, value] of Object.entries({ publishTimeoutMs, closeTimeoutMs }))
    if (value !== undefined && !isAmount(value)) throw new InvalidConfigError(option, AMOUNT, value);
  return {
    publishTimeoutMs: publishTimeoutMs ?? DEFAULTS.publishTimeoutMs,
    closeTimeoutMs: closeTimeoutMs ?? DEFAULTS.closeTimeoutMs,
    clock: options.clock ?? DEFAULTS.clock,
  };
}
