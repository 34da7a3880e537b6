import type { Limits } from "./window-limit.ts";

interface Taken {
  readonly at: number;
  readonly tokens: number;
}

interface Held {
  readonly rpm: number;
  readonly tpm: number;
  /** The time at which the next limits replaced these; Infinity for the current ones. */
  until: number;
}

/**
 * Tracks the maximum of requests and tokens in any interval of one window, accepted or not, as a fraction of the limit:
 * 1 is exactly the limit. After a change of the limits, the larger one counts for a window, because requests already
 * sent cannot be recalled. Time is an argument and never goes back.
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
    // Expired entries are removed in batches, which costs less than one at a time.
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
