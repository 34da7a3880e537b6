import type { AbortSignalLike } from "@hivepace/core";

/** A signal that knows who listens to it. */
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
