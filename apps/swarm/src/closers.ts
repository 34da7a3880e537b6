/** Something that was opened. `withinMs`: how long it may take to end gently. */
interface Opened {
  close(withinMs?: number): Promise<void>;
}

/** Somebody waits at a terminal. */
const HURRY = { gentlyMs: 250, allMs: 800 } as const;

/** What was opened, and is closed again in the opposite order, whatever happens. */
export class Closers {
  readonly #opened: Opened[] = [];

  add(opened: Opened): void {
    this.#opened.push(opened);
  }

  /** What is being opened; when that is interrupted it is closed as soon as it is there. */
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

  /** In a hurry all at once, and not for longer than somebody at a terminal waits. Never rejects. */
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
