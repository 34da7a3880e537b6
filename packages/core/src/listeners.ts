import { warn } from "./warn.ts";

/** The listeners of one event. A listener that throws is reported as a warning and does not affect the others. */
export class Listeners<T> {
  readonly #listeners = new Set<{ readonly call: (event: T) => void }>();

  /**
   * Adds a listener and returns a function that removes it. The same function may be added several times; each addition
   * has its own removal.
   */
  add(call: (event: T) => void): () => void {
    const entry = { call };
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  get size(): number {
    return this.#listeners.size;
  }

  emit(event: T): void {
    for (const { call } of [...this.#listeners]) {
      try {
        call(event);
      } catch (error) {
        warn("HIVEPACE_LISTENER_THREW", `a listener threw: ${String(error)}`, error);
      }
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
