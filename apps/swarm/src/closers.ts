/** A resource that can be closed. `withinMs`: the time limit for a graceful shutdown. */
interface Opened {
  close(withinMs?: number): Promise<void>;
}

/** Limits of a shutdown after Ctrl-C, when a person waits at the terminal. */
const HURRY = { gentlyMs: 250, allMs: 800 } as const;

/** Closes opened resources in reverse order, whatever happens. */
export class Closers {
  readonly #opened: Opened[] = [];

  add(opened: Opened): void {
    this.#opened.push(opened);
  }

  /** Registers a resource that is still being opened. After an abort, it is closed as soon as it has opened. */
  async opened<T extends Opened>(opening: Promise<T>, signal: AbortSignal): Promise<T> {
    const interrupted = new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    interrupted.catch(() => {});
    opening.catch(() => {});
    try {
      const opened = await Promise.race([opening, interrupted]);
      this.add(opened);
      return opened;
    } catch (error) {
      if (signal.aborted) this.add({ close: async () => (await opening).close() });
      throw error;
    }
  }

  /**
   * Closes everything. When hurried, closes all resources concurrently and returns after the `HURRY` limit at the
   * latest. Never rejects.
   */
  async close(isHurried: boolean): Promise<void> {
    const opened = this.#opened.splice(0).reverse();
    if (!isHurried) {
      for (const one of opened) await one.close().catch(() => {});
      return;
    }
    const all = Promise.all(opened.map((one) => one.close(HURRY.gentlyMs).catch(() => {})));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, HURRY.allMs);
    });
    await Promise.race([all, late]);
    clearTimeout(timer);
  }
}
