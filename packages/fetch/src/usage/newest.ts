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

  /** The entry of this key, made if there is none; it is the newest from now on. */
  use(key: string, make: () => V): V {
    const value = this.#entries.get(key) ?? make();
    // A Map remembers the order of setting.
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.#most) this.#entries.delete(this.#entries.keys().next().value as string);
    return value;
  }
}
