import type { RateDecision } from "@hivepace/core";
import type { Observed } from "./hive-types.ts";

type Counts = { -readonly [C in keyof Observed]: Observed[C] };

/** Counts the decisions that an enforcing hive would have made, by endpoint and in total. */
export class Observations {
  readonly #all = none();
  readonly #byEndpoint = new Map<string, Counts>();

  decided(endpoint: string, { allowed, reason }: RateDecision): void {
    this.#count(endpoint, "decisions");
    if (!allowed) this.#count(endpoint, reason === "too-large" ? "wouldHaveBeenDenied" : "wouldHaveWaited");
  }

  /** Counts a refusal. `isDenied`: an enforcing hive would not have sent the request. */
  refused(endpoint: string, isDenied: boolean): void {
    this.#count(endpoint, "refused");
    if (isDenied) this.#count(endpoint, "wouldHaveBeenAvoided");
  }

  report(): Observed {
    return { ...this.#all };
  }

  of(endpoint: string): Observed {
    return { ...(this.#byEndpoint.get(endpoint) ?? none()) };
  }

  #count(endpoint: string, what: keyof Counts): void {
    let counts = this.#byEndpoint.get(endpoint);
    if (!counts) {
      counts = none();
      this.#byEndpoint.set(endpoint, counts);
    }
    counts[what]++;
    this.#all[what]++;
  }
}

function none(): Counts {
  return { decisions: 0, wouldHaveWaited: 0, wouldHaveBeenDenied: 0, refused: 0, wouldHaveBeenAvoided: 0 };
}
