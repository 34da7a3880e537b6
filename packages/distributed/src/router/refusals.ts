/** Endpoints that answered 429, each with a model or with all, and until when they are left alone. */
export class Refusals {
  readonly #until = new Map<string, number>();

  /** The longer of two waits counts. */
  add(endpoint: string, model: string | undefined, until: number, now: number): void {
    // Whoever is back is forgotten, so there are never more than are refused at once.
    for (const [name, end] of this.#until) if (end <= now) this.#until.delete(name);
    const name = nameOf(endpoint, model);
    this.#until.set(name, Math.max(until, this.#until.get(name) ?? 0));
  }

  /** How long it is still to be left alone; 0 when it is not. */
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
