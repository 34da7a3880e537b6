/** Endpoints that answered 429, each for one model or for all models, and the time until which routing avoids them. */
export class Refusals {
  readonly #until = new Map<string, number>();

  /** Records a refusal. A longer wait that is already recorded stays. */
  add(endpoint: string, model: string | undefined, until: number, now: number): void {
    // Expired entries are dropped, so the map never holds more entries than there are current refusals.
    for (const [name, end] of this.#until) if (end <= now) this.#until.delete(name);
    const name = nameOf(endpoint, model);
    this.#until.set(name, Math.max(until, this.#until.get(name) ?? 0));
  }

  /** Remaining time for which routing avoids the endpoint; 0 when it does not. */
  remainingMs(endpoint: string, model: string | undefined, now: number): number {
    if (this.#until.size === 0) return 0;
    const whole = this.#until.get(nameOf(endpoint, undefined)) ?? 0;
    const ofModel = model === undefined ? 0 : (this.#until.get(nameOf(endpoint, model)) ?? 0);
    return Math.max(0, Math.max(whole, ofModel) - now);
  }

  get size(): number {
    return this.#until.size;
  }
}

const nameOf = (endpoint: string, model: string | undefined): string => `${endpoint}\0${model ?? ""}`;
