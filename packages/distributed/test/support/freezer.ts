import type { MessageBus } from "@hivepace/bus";
import type { Clock, TimerOptions } from "@hivepace/core";

/** A process that can be stopped and go on: meanwhile no timer fires in it and what arrives waits. */
export class Freezer implements Clock {
  readonly #clock: Clock;
  /** By how much its wall clock is wrong. */
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

  /** The same bus, as such a process hears it. */
  readonly bus = (bus: MessageBus): MessageBus => onHearing(bus, (payload, handle) => this.#do(() => handle(payload)));

  #do(run: () => unknown): void {
    if (this.#held) this.#held.push(run as () => void);
    else run();
  }
}

/** A bus whose messages pass through here on their way in. */
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
