import { seededRandom } from "@hivepace/core/testing";

/** Converts between one agent's clock and the simulated world's time. Each clock has its own zero and speed. */
export class LocalTime {
  readonly #offsetMs: number;
  readonly #speed: number;

  constructor(offsetMs: number, speed: number) {
    this.#offsetMs = offsetMs;
    this.#speed = speed;
  }

  /** Converts a world time to the agent's clock. */
  at(worldMs: number): number {
    return worldMs * this.#speed + this.#offsetMs;
  }

  /** Converts a time of the agent's clock to world time. */
  worldAt(ownMs: number): number {
    return (ownMs - this.#offsetMs) / this.#speed;
  }

  /** Milliseconds on the agent's clock since the world began. */
  elapsedAt(worldMs: number): number {
    return worldMs * this.#speed;
  }
}

/** Creates the clocks of all agents. The speed of each differs from the world's by at most the fraction `drift`. */
export function localTimes(agents: number, drift: number, seed: number): LocalTime[] {
  const random = seededRandom(seed);
  return Array.from({ length: agents }, () => {
    const offsetMs = Math.floor(random() * 1e9);
    return new LocalTime(offsetMs, 1 + drift * (2 * random() - 1));
  });
}
