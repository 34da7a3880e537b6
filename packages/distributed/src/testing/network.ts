import type { NetworkOptions } from "./options.ts";
import type { Timeline } from "./timeline.ts";

/** A bus that loses, duplicates, delays and reorders messages, and that can be partitioned. */
export class Network {
  readonly #timeline: Timeline;
  readonly #random: () => number;
  readonly #deliver: (to: number, message: unknown) => void;
  readonly #agents: number;
  #options: NetworkOptions;
  /** Predicates of the active partitions: whether messages of `from` reach `to`. */
  readonly #troubles = new Set<(from: number, to: number) => boolean>();
  /** Number of active outages of the whole network. */
  #outages = 0;
  readonly #onDown = new Set<(isDown: boolean) => void>();
  published = 0;

  constructor(
    agents: number,
    options: NetworkOptions,
    timeline: Timeline,
    random: () => number,
    deliver: (to: number, message: unknown) => void,
  ) {
    this.#agents = agents;
    this.#options = options;
    this.#timeline = timeline;
    this.#random = random;
    this.#deliver = deliver;
  }

  broadcast(from: number, message: unknown): void {
    this.published++;
    const { loss, duplicates } = this.#options;
    // Receivers are grouped by arrival time: a thousand of them share some fifty distinct milliseconds.
    const readers = new Map<number, number[]>();
    for (let to = 0; to < this.#agents; to++) {
      if (this.#random() < loss || !this.#reaches(from, to)) continue;
      this.#carry(to, readers);
      if (this.#random() < duplicates) this.#carry(to, readers);
    }
    for (const [time, all] of readers)
      this.#timeline.at(time, () => {
        for (const to of all) this.#deliver(to, message);
      });
  }

  /** For `forMs`, only pairs of agents for which `reaches` returns true receive each other's messages. */
  trouble(forMs: number, reaches: (from: number, to: number) => boolean): void {
    this.#troubles.add(reaches);
    this.#timeline.after(forMs, () => this.#troubles.delete(reaches));
  }

  /** Stops all delivery and breaks every connection, until the returned function is called. */
  outage(): () => void {
    const reaches = (): boolean => false;
    this.#troubles.add(reaches);
    if (this.#outages++ === 0) this.#say(true);
    return () => {
      this.#troubles.delete(reaches);
      if (--this.#outages === 0) this.#say(false);
    };
  }

  get isDown(): boolean {
    return this.#outages > 0;
  }

  /** Calls the listener at the start and the end of an outage. Returns a function that unsubscribes. */
  onDown(listener: (isDown: boolean) => void): () => void {
    this.#onDown.add(listener);
    return () => this.#onDown.delete(listener);
  }

  /** Resolves as soon as no outage is active. */
  up(): Promise<void> {
    if (!this.isDown) return Promise.resolve();
    return new Promise((resolve) => {
      const stop = this.onDown((isDown) => {
        if (isDown) return;
        stop();
        resolve();
      });
    });
  }

  change(forMs: number, options: Partial<NetworkOptions>): void {
    const before = this.#options;
    this.#options = { ...before, ...options };
    this.#timeline.after(forMs, () => {
      this.#options = before;
    });
  }

  #say(isDown: boolean): void {
    for (const listener of [...this.#onDown]) listener(isDown);
  }

  #reaches(from: number, to: number): boolean {
    for (const reaches of this.#troubles) if (!reaches(from, to)) return false;
    return true;
  }

  #carry(to: number, readers: Map<number, number[]>): void {
    const { slow, slowMs, delayMs } = this.#options;
    const [least, most] = this.#random() < slow ? slowMs : delayMs;
    const time = Math.ceil(this.#timeline.now + least + (most - least) * this.#random());
    const same = readers.get(time);
    if (same) same.push(to);
    else readers.set(time, [to]);
  }
}
