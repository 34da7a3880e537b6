import type { AbortSignalLike } from "@hivepace/core";
import { need } from "./violation.ts";

/** An abort signal that counts its listeners. */
export class CountingSignal implements AbortSignalLike {
  aborted = false;
  reason: unknown;
  readonly #listeners = new Set<() => void>();

  get listeners(): number {
    return this.#listeners.size;
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.delete(listener);
  }

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of [...this.#listeners]) listener();
  }
}

/** The signals of a program. An aborted signal is replaced, and its listeners are still counted. */
export class Signals {
  readonly #present: CountingSignal[];
  readonly #aborted: CountingSignal[] = [];

  constructor(count: number) {
    this.#present = Array.from({ length: count }, () => new CountingSignal());
  }

  get(index: number): CountingSignal {
    return this.#present[index % this.#present.length] as CountingSignal;
  }

  abort(index: number): void {
    this.get(index).abort(new Error("aborted by the program"));
    this.#aborted.push(...this.#present.splice(index % this.#present.length, 1, new CountingSignal()));
  }

  /** Checks that each object under test listens to a signal at most once, however many calls share the signal. */
  check(most: number): void {
    for (const { listeners } of this.#present)
      need(listeners <= most, "leftovers", () => `${listeners} listeners on one signal`);
  }

  checkEmpty(): void {
    const listeners = [...this.#present, ...this.#aborted].reduce((sum, each) => sum + each.listeners, 0);
    need(listeners === 0, "leftovers", () => `${listeners} listeners of signals are left`);
  }
}
