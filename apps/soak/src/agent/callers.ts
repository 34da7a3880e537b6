import { setTimeout as pause } from "node:timers/promises";

/** Concurrent loops of calls that can be paused, so that no call is under way. */
export class Callers {
  readonly #call: () => Promise<unknown>;
  readonly #loops: Promise<void>[];
  #isOver = false;
  #gate: Promise<void> | undefined;
  #open: () => void = () => {};
  #resting = 0;

  constructor(count: number, call: () => Promise<unknown>) {
    this.#call = call;
    this.#loops = Array.from({ length: count }, () => this.#loop());
  }

  /** Pauses the loops. Resolves when the last call has ended. */
  async rest(): Promise<void> {
    this.#gate ??= new Promise((resolve) => {
      this.#open = resolve;
    });
    while (this.#resting < this.#loops.length) await pause(10);
  }

  goOn(): void {
    this.#gate = undefined;
    this.#open();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    this.goOn();
    await Promise.all(this.#loops);
  }

  async #loop(): Promise<void> {
    while (!this.#isOver) {
      if (this.#gate) {
        this.#resting++;
        await this.#gate;
        this.#resting--;
        continue;
      }
      // The hive was closed or the provider is unavailable; both happen only at the end.
      await this.#call().catch(() => pause(20));
    }
  }
}
