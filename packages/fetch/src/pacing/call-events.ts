import { warn } from "@hivepace/core/internal";
import type { RefusalClass } from "../signal/provider-signal.ts";

/** A step of a call between its start and its answer. */
export type CallEvent = {
  /** The endpoint at which the call counts; its own where the gate does not count it. */
  readonly endpoint: string;
  readonly model: string | undefined;
} & (
  | { /** The gate has no capacity: the call waits for its turn. */ readonly type: "waiting" }
  | { readonly type: "sent" /** The wait for this turn. */; readonly waitedMs: number; readonly retries: number }
  | { readonly type: "refused"; readonly refusal: RefusalClass | undefined; readonly retryAfterMs: number | undefined }
  | {
      /** The call is sent again to the same endpoint, after this delay. */ readonly type: "retrying";
      readonly delayMs: number;
    }
  | {
      /** The call moves to another endpoint or model. */ readonly type: "moved";
      readonly to: string;
      readonly toModel: string | undefined;
    }
);

/** Passes events to the listener of the options. An error of the listener does not affect the call. */
export class CallEvents {
  readonly #listener: ((event: CallEvent) => void) | undefined;
  #hasWarned = false;

  constructor(listener: ((event: CallEvent) => void) | undefined) {
    this.#listener = listener;
  }

  get isHeard(): boolean {
    return this.#listener !== undefined;
  }

  emit(event: CallEvent): void {
    try {
      this.#listener?.(event);
    } catch (error) {
      if (!this.#hasWarned) warn("HIVEPACE_LISTENER_FAILED", "the option onEvent threw an error", error);
      this.#hasWarned = true;
    }
  }
}
