import type { AbortSignalLike, Clock } from "@hivepace/core";
import { onAbort } from "@hivepace/core/internal";

interface Call {
  /** On the clock; Infinity for a call that waits as long as it takes. */
  readonly dueAt: number;
  end(reason: unknown): void;
}

/**
 * Calls that wait for an answer which may never come. Each ends with the answer, by its signal, after `timeoutMs`, or all
 * together. (A race against one long-lived promise would keep every call in memory until that promise settles.)
 */
export class Pending {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #late: () => Error;
  readonly #patient = new Set<Call>();
  /** In the order in which they are due, for all have the same time: one timer does for all of them. */
  readonly #timed = new Set<Call>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, timeoutMs: number, late: () => Error) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#late = late;
  }

  /** Waits for `timeoutMs` at the most. */
  inTime<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const call: Call = { dueAt: this.#clock.now() + this.#timeoutMs, end: reject };
      this.#timed.add(call);
      if (this.#timed.size === 1) this.#arm(this.#timeoutMs);
      const done = (): void => {
        if (this.#timed.delete(call) && this.#timed.size === 0) this.#disarm();
      };
      work.then(
        (value) => {
          done();
          resolve(value);
        },
        (reason: unknown) => {
          done();
          reject(reason);
        },
      );
    });
  }

  /** Waits as long as it takes, or until the signal says. */
  wait<T>(work: Promise<T>, signal?: AbortSignalLike): Promise<T> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        this.#patient.delete(call);
        stopListening?.();
      };
      const call: Call = {
        dueAt: Infinity,
        end(reason) {
          done();
          reject(reason);
        },
      };
      this.#patient.add(call);
      const stopListening = signal && onAbort(signal, () => void call.end(signal.reason));
      work.then((value) => {
        done();
        resolve(value);
      }, call.end);
    });
  }

  endAll(error: () => Error): void {
    const calls = [...this.#patient, ...this.#timed];
    this.#timed.clear();
    this.#disarm();
    for (const call of calls) call.end(error());
  }

  #arm(ms: number): void {
    this.#cancel = this.#clock.after(ms, () => this.#expire());
  }

  #disarm(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #expire(): void {
    const now = this.#clock.now();
    for (const call of this.#timed) {
      if (call.dueAt > now) {
        this.#arm(call.dueAt - now);
        return;
      }
      this.#timed.delete(call);
      call.end(this.#late());
    }
  }
}
