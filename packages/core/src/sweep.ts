import type { Clock } from "./clock.ts";

/** Entries visited before the event loop continues: well under a millisecond of work. */
const SLICE = 2_000;

/** Removes idle entries from a map periodically, one slice at a time. Its timer never keeps the process alive. */
export class Sweep<K, V> {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #map: Map<K, V>;
  readonly #mayGo: (value: V, now: number) => boolean;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, intervalMs: number, map: Map<K, V>, mayGo: (value: V, now: number) => boolean) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
    this.#map = map;
    this.#mayGo = mayGo;
  }

  /** Starts the periodic sweep unless it is already running; it stops by itself when the map is empty. */
  start(): void {
    if (!this.#cancel) this.#arm(this.#intervalMs, this.#map.entries());
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #arm(ms: number, entries: Iterator<[K, V]>): void {
    this.#cancel = this.#clock.after(ms, () => this.#slice(entries), { background: true });
  }

  #slice(entries: Iterator<[K, V]>): void {
    this.#cancel = undefined;
    const now = this.#clock.now();
    for (let i = 0; i < SLICE; i++) {
      const entry = entries.next();
      if (entry.done) {
        if (this.#map.size > 0) this.start();
        return;
      }
      const [key, value] = entry.value;
      if (this.#mayGo(value, now)) this.#map.delete(key);
    }
    this.#arm(0, entries);
  }
}
