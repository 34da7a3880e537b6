import type { AbortSignalLike, Clock } from "@hivepace/core";
import { onAbort } from "@hivepace/core/internal";

/** Milliseconds after which the timer that keeps the process alive is set again. */
const HOLD_MS = 60_000;

interface Call {
  /** The deadline on the clock; Infinity for a call without a deadline. */
  readonly dueAt: number;
  end(reason: unknown): void;
}

/**
 * Calls whose answer may never come. A call ends with the answer, by its signal, after `timeoutMs`, or by `endAll`. (A
 * race against one long-lived promise would keep every call in memory until that promise settles.)
 */
export class Pending {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #late: () => Error;
  /** Calls without a deadline. */
  readonly #patient = new Set<Call>();
  /**
   * Calls with a deadline. All have the same timeout, so insertion order is deadline order, and one timer serves them
   * all.
   */
  readonly #timed = new Set<Call>();
  #cancel: (() => void) | undefined;
  #isHolding = false;
  #release: (() => void) | undefined;

  constructor(clock: Clock, timeoutMs: number, late: () => Error) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#late = late;
  }

  /** Whether calls without a deadline keep the process alive; those with a deadline always do. */
  set isHolding(isHolding: boolean) {
    this.#isHolding = isHolding;
    this.#hold();
  }

  /** Settles like `work`, or rejects after `timeoutMs`. */
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

  /** Settles like `work`, without a deadline; an aborted signal rejects with its reason. */
  wait<T>(work: Promise<T>, signal?: AbortSignalLike): Promise<T> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        this.#patient.delete(call);
        this.#hold();
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
      this.#hold();
      const stopListening = signal && onAbort(signal, () => void call.end(signal.reason));
      work.then((value) => {
        done();
        resolve(value);
      }, call.end);
    });
  }

  /** Rejects every pending call. */
  endAll(error: () => Error): void {
    const calls = [...this.#patient, ...this.#timed];
    this.#timed.clear();
    this.#disarm();
    for (const call of calls) call.end(error());
  }

  #hold(): void {
    if (!this.#isHolding || this.#patient.size === 0) {
      this.#release?.();
      this.#release = undefined;
      return;
    }
    this.#release ??= this.#clock.after(HOLD_MS, () => {
      this.#release = undefined;
      this.#hold();
    });
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
