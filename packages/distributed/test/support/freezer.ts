import type { MessageBus } from "@hivepace/bus";
import type { Clock, TimerOptions } from "@hivepace/core";

/** The clock of a process that can be frozen and resumed. While frozen, no timer fires, and received messages wait. */
export class Freezer implements Clock {
  readonly #clock: Clock;
  /** Error of the wall clock, in milliseconds. */
  readonly #wrongMs: number;
  #held: (() => void)[] | undefined;

  constructor(clock: Clock, wrongMs = 0) {
    this.#clock = clock;
    this.#wrongMs = wrongMs;
  }

  get isFrozen(): boolean {
    return this.#held !== undefined;
  }

  freeze(): void {
    this.#held ??= [];
  }

  resume(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const run of held) run();
  }

  now(): number {
    return this.#clock.now();
  }

  epochMs(): number {
    return this.#clock.epochMs() + this.#wrongMs;
  }

  after(ms: number, callback: () => void, options?: TimerOptions): () => void {
    let isCancelled = false;
    const cancel = this.#clock.after(ms, () => this.#do(() => !isCancelled && callback()), options);
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  /** Wraps a bus so that messages wait while the process is frozen. */
  readonly bus = (bus: MessageBus): MessageBus => onHearing(bus, (payload, handle) => this.#do(() => handle(payload)));

  #do(run: () => unknown): void {
    if (this.#held) this.#held.push(run as () => void);
    else run();
  }
}

/** A bus whose received messages pass through `hear`. */
export function onHearing(
  bus: MessageBus,
  hear: (payload: Uint8Array, handle: (payload: Uint8Array) => void, subject: string) => void,
): MessageBus {
  return new Proxy(bus, {
    get(target, property) {
      if (property === "subscribe")
        return (subject: string, handle: (payload: Uint8Array) => void) =>
          target.subscribe(subject, (payload) => hear(payload, handle, subject));
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
