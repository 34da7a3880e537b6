import type { Controller } from "./handler.ts";

/**
 * The connection of a call as its caller sees it: from the first moment, while the call still waits for its turn, and over
 * all of its retries. An abort before the call is sent ends the wait.
 */
export class QueuedController implements Controller {
  readonly #wait = new AbortController();
  #real: Controller | undefined;

  /** Aborted when the caller aborts. */
  get signal(): AbortSignal {
    return this.#wait.signal;
  }

  get aborted(): boolean {
    return this.#wait.signal.aborted;
  }

  get reason(): Error | null {
    return (this.#wait.signal.reason as Error | undefined) ?? null;
  }

  get paused(): boolean {
    return this.#real?.paused ?? false;
  }

  get rawHeaders() {
    return this.#real?.rawHeaders ?? null;
  }

  get rawTrailers() {
    return this.#real?.rawTrailers ?? null;
  }

  /** The call is sent over this connection from now on. */
  attach(real: Controller): void {
    this.#real = real;
    if (this.aborted) real.abort(this.reason as Error);
  }

  pause(): void {
    this.#real?.pause();
  }

  resume(): void {
    this.#real?.resume();
  }

  abort(reason: Error): void {
    if (this.aborted) return;
    this.#wait.abort(reason);
    this.#real?.abort(reason);
  }
}
