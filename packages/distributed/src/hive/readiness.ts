import { type AbortSignalLike, ClosedError } from "@hivepace/core";
import { onAbort } from "@hivepace/core/internal";

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
  readonly stopListening: (() => void) | undefined;
}

/** Callers that wait until the agent may send. */
export class Readiness {
  readonly #isReady: (now: number) => boolean;
  readonly #onWaiting: () => void;
  readonly #waiters = new Set<Waiter>();

  /** `onWaiting` is called when the first caller waits and when none is left. */
  constructor(isReady: (now: number) => boolean, onWaiting: () => void) {
    this.#isReady = isReady;
    this.#onWaiting = onWaiting;
  }

  get isAwaited(): boolean {
    return this.#waiters.size > 0;
  }

  wait(signal: AbortSignalLike | undefined, now: number): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#isReady(now)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        resolve,
        reject,
        stopListening:
          signal &&
          onAbort(signal, () => {
            if (this.#waiters.delete(waiter)) reject(signal.reason);
            this.#onWaiting();
            return undefined;
          }),
      };
      this.#waiters.add(waiter);
      this.#onWaiting();
    });
  }

  /** Called after every change of the agent. */
  check(now: number): void {
    if (this.#waiters.size === 0 || !this.#isReady(now)) return;
    this.#settle(({ resolve }) => resolve());
  }

  close(): void {
    this.#settle(({ reject }) => reject(new ClosedError("hive")));
  }

  #settle(how: (waiter: Waiter) => void): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) {
      waiter.stopListening?.();
      how(waiter);
    }
    this.#onWaiting();
  }
}
