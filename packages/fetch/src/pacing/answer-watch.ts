import type { Lease } from "@hivepace/core";
import type { BodyMeter } from "../usage/body-meter.ts";
import type { PacedCall, Pacer } from "./pacer.ts";

/**
 * Ends the lease of an answer whose body passes by: with the reported usage when the answer is complete, or as a
 * refusal when the body is an error in spite of a success status. The lease ends once, by the first of these.
 */
export class AnswerWatch {
  readonly #pacer: Pacer;
  readonly #lease: Lease;
  readonly #call: PacedCall;
  readonly #meter: BodyMeter;
  readonly #status: number;
  readonly #renew: () => void;
  #isOver = false;

  constructor(pacer: Pacer, lease: Lease, call: PacedCall, meter: BodyMeter, status: number) {
    this.#pacer = pacer;
    this.#lease = lease;
    this.#call = call;
    this.#meter = meter;
    this.#status = status;
    this.#renew = pacer.renewal(lease);
  }

  chunk(bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#renew();
    this.#meter.feed(bytes);
    // A reader may neither read on nor cancel after an error or the last event, so the lease ends now.
    if (this.#meter.signal !== undefined || this.#meter.isComplete) this.#finish(true);
  }

  /** `isWhole` is false when the reader stopped early or the connection broke. */
  end(isWhole: boolean): void {
    if (this.#isOver) return;
    this.#meter.end();
    this.#finish(isWhole);
  }

  #finish(isWhole: boolean): void {
    this.#isOver = true;
    const { signal, usage, pieces } = this.#meter;
    if (signal !== undefined) this.#pacer.refuse(this.#lease, signal, this.#status);
    else this.#pacer.settle(this.#lease, this.#call, { usage, pieces, isWhole });
  }
}
