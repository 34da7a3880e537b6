import { warn } from "./warn.ts";

/** Who wants to hear of something. One that throws is reported and harms nobody. */
export class Listeners<T> {
  readonly #listeners = new Set<{ readonly call: (event: T) => void }>();

  /** The same function may be added twice; each addition has its own removal. */
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
