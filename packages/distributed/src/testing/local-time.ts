import { seededRandom } from "@hivepace/core/testing";

/** The relation of one agent's clock to the simulated world's time: each clock has a zero and a speed of its own. */
export class LocalTime {
  readonly #offsetMs: number;
  readonly #speed: number;

  constructor(offsetMs: number, speed: number) {
    this.#offsetMs = offsetMs;
    this.#speed = speed;
  }

  /** The agent's time at a time of the world. */
  at(worldMs: number): number {
    return worldMs * this.#speed + this.#offsetMs;
  }

  /** The world's time at a time of the agent. */
  worldAt(ownMs: number): number {
    return (ownMs - this.#offsetMs) / this.#speed;
  }

  /** Milliseconds of the agent's clock since the world began. */
  elapsedAt(worldMs: number): number {
    return worldMs * this.#speed;
  }
}

/** The clocks of all agents. No clock is faster or slower than the world by more than `drift`, as a part. */
export function localTimes(agents: number, drift: number, seed: number): LocalTime[] {
  const random = seededRandom(seed);
  return Array.from({ length: agents }, () => {
    const offsetMs = Math.floor(random() * 1e9);
    return new LocalTime(offsetMs, 1 + drift * (2 * random() - 1));
  });
}
