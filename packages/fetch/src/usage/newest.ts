/** A map that keeps the entries that were used last. */
export class Newest<V> {
  readonly #most: number;
  readonly #entries = new Map<string, V>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key);
  }

  /** Returns the entry of this key, created if there is none, and makes it the newest. */
  use(key: string, make: () => V): V {
    const value = this.#entries.get(key) ?? make();
    // A Map iterates in the order of insertion.
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.#most) this.#entries.delete(this.#entries.keys().next().value as string);
    return value;
  }
}
