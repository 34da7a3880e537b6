import { type Clock, systemClock, type TimerOptions } from "@hivepace/core";

/**
 * A clock that runs faster than real time, so that minutes can be watched in seconds. Agents, limiters, SDKs and the
 * provider of the demo all use such a clock and keep their default durations.
 */
export class LapseClock implements Clock {
  readonly #speed: number;
  readonly #epoch: number;
  readonly #clock: Clock;

  /**
   * `epoch`: the wall-clock time at which this clock agrees with the real one; the same for all processes of a swarm.
   */
  constructor(speed: number, epoch: number, clock: Clock = systemClock) {
    [this.#speed, this.#epoch, this.#clock] = [speed, epoch, clock];
  }

  now(): number {
    return this.#clock.now() * this.#speed;
  }

  epochMs(): number {
    return this.#epoch + (this.#clock.epochMs() - this.#epoch) * this.#speed;
  }

  after(ms: number, callback: () => void, options?: TimerOptions): () => void {
    return this.#clock.after(ms / this.#speed, callback, options);
  }
}

/** Waits on this clock. Rejects with the signal's reason. */
export type Sleep = (ms: number, signal: AbortSignal | undefined) => Promise<void>;

export function sleeper(clock: Clock): Sleep {
  return (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const aborted = (): void => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = clock.after(ms, () => {
        signal?.removeEventListener("abort", aborted);
        resolve();
      });
      signal?.addEventListener("abort", aborted, { once: true });
    });
}
