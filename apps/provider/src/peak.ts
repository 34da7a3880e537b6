import type { Limits } from "./window-limit.ts";

interface Taken {
  readonly at: number;
  readonly tokens: number;
}

interface Held {
  readonly rpm: number;
  readonly tpm: number;
  /** When it gave way to the next one; Infinity for the present one. */
  until: number;
}

/**
 * The most that came in any interval as long as the window, accepted or not, in limits: 1 is exactly the limit. Where the
 * limit changed within an interval, the larger one counts, for nobody can take back what was sent before. Time is an
 * argument and never goes back.
 */
export class Peak {
  readonly #windowMs: number;
  #taken: Taken[] = [];
  #first = 0;
  #tokens = 0;
  #held: Held[];
  #ratio = 0;

  constructor(windowMs: number, limits: Limits) {
    this.#windowMs = windowMs;
    this.#held = [{ rpm: limits.rpm ?? Infinity, tpm: limits.tpm ?? Infinity, until: Infinity }];
  }

  get ratio(): number {
    return this.#ratio;
  }

  setLimits(limits: Limits, now: number): void {
    const last = this.#held.at(-1) as Held;
    last.until = now;
    const rpm = "rpm" in limits ? (limits.rpm ?? Infinity) : last.rpm;
    const tpm = "tpm" in limits ? (limits.tpm ?? Infinity) : last.tpm;
    this.#held.push({ rpm, tpm, until: Infinity });
  }

  add(tokens: number, now: number): void {
    const since = now - this.#windowMs;
    this.#taken.push({ at: now, tokens });
    this.#tokens += tokens;
    for (let oldest = this.#taken[this.#first]; oldest && oldest.at <= since; oldest = this.#taken[this.#first]) {
      this.#tokens -= oldest.tokens;
      this.#first++;
    }
    // What is over goes away now and then, not one by one.
    if (this.#first > 1_000) {
      this.#taken = this.#taken.slice(this.#first);
      this.#first = 0;
    }
    this.#held = this.#held.filter(({ until }) => until > since);
    const rpm = Math.max(...this.#held.map((held) => held.rpm));
    const tpm = Math.max(...this.#held.map((held) => held.tpm));
    this.#ratio = Math.max(this.#ratio, (this.#taken.length - this.#first) / rpm, this.#tokens / tpm);
  }
}
