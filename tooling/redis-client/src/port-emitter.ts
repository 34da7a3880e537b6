type Listener = (...args: unknown[]) => void;

/** Event listeners of an adapted client. `watch` follows the client while there is at least one listener. */
export abstract class PortEmitter {
  readonly #listeners = new Map<string, Listener[]>();
  #unwatch: (() => void) | undefined;

  /** Starts to follow the client; returns a function that stops. */
  protected abstract watch(): () => void;

  on(event: string, listener: Listener): this {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
    this.#unwatch ??= this.watch();
    return this;
  }

  off(event: string, listener: Listener): this {
    const left = [...(this.#listeners.get(event) ?? [])];
    const place = left.indexOf(listener);
    if (place >= 0) left.splice(place, 1);
    if (left.length > 0) this.#listeners.set(event, left);
    else this.#listeners.delete(event);
    if (this.#listeners.size === 0) {
      this.#unwatch?.();
      this.#unwatch = undefined;
    }
    return this;
  }

  protected emit(event: string, ...args: unknown[]): void {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) listener(...args);
  }

  protected get isWatched(): boolean {
    return this.#listeners.size > 0;
  }
}
