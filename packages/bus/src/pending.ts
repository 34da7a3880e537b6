import type { AbortSignalLike, Clock } from "@hivepace/core";

export interface PendingOptions {
  /** Ends the wait with the signal's reason. */
  signal?: AbortSignalLike | undefined;
  /** Ends the wait with the error, after so long. */
  deadline?: { readonly ms: number; readonly error: () => Error };
}

/**
 * Calls that wait for an answer which may never come. Each ends with the answer, at its deadline, by its signal, or all
 * together. (A race against one long-lived promise would keep every call in memory until that promise settles.)
 */
export class Pending {
  readonly #clock: Clock;
  readonly #ends = new Set<(reason: unknown) => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wait<T>(work: Promise<T>, { signal, deadline }: PendingOptions = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        this.#ends.delete(end);
        cancel?.();
        signal?.removeEventListener("abort", onAbort);
      };
      const end = (reason: unknown): void => {
        done();
        reject(reason);
      };
      const onAbort = (): void => end(signal?.reason);
      const cancel = deadline && this.#clock.after(deadline.ms, () => end(deadline.error()));
      this.#ends.add(end);
      signal?.addEventListener("abort", onAbort);
      work.then((value) => {
        done();
        resolve(value);
      }, end);
    });
  }

  endAll(error: () => Error): void {
    for (const end of [...this.#ends]) end(error());
  }
}
