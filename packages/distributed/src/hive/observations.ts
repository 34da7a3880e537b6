import type { RateDecision } from "@hivepace/core";
import type { Observed } from "./hive-types.ts";

/** What an observing hive would have done, in numbers. */
export class Observations {
  #decisions = 0;
  #waited = 0;
  #denied = 0;
  #refused = 0;
  #avoided = 0;

  decided({ allowed, reason }: RateDecision): void {
    this.#decisions++;
    if (allowed) return;
    if (reason === "too-large") this.#denied++;
    else this.#waited++;
  }

  /** The provider refused one; `isDenied`: we would not have sent it then. */
  refused(isDenied: boolean): void {
    this.#refused++;
    if (isDenied) this.#avoided++;
  }

  report(): Observed {
    return {
      decisions: this.#decisions,
      wouldHaveWaited: this.#waited,
      wouldHaveBeenDenied: this.#denied,
      refused: this.#refused,
      wouldHaveBeenAvoided: this.#avoided,
    };
  }
}
