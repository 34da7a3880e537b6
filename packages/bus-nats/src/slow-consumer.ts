import { type Clock, systemClock } from "@hivepace/core";
import { warn } from "@hivepace/core/internal";

/** Handlers that take this long for the messages of one event-loop turn delay everything else. */
const SLOW_MS = 1_000;
/** After this time without a slow turn, the next slow turn is reported again. */
const QUIET_MS = 30_000;

/**
 * Detects that messages arrive faster than the handlers process them. The server does not report this: it buffers
 * unread messages and drops the connection once the buffer is full.
 */
export class SlowConsumerWatch {
  readonly #clock: Clock;
  readonly #afterTurn: (callback: () => void) => void;
  /** The time of the first message in this turn of the event loop. */
  #turnAt: number | undefined;
  #messages = 0;
  #slowAt = Number.NEGATIVE_INFINITY;
  #dropReported = false;

  constructor(clock: Clock = systemClock, afterTurn: (callback: () => void) => void = setImmediate) {
    this.#clock = clock;
    this.#afterTurn = afterTurn;
  }

  /** Must be called before each message is delivered. */
  message(): void {
    this.#messages++;
    if (this.#turnAt !== undefined) return;
    this.#turnAt = this.#clock.now();
    this.#afterTurn(() => this.#endTurn());
  }

  /** Reports a broken connection if slow handlers may be the reason. */
  dropped(): void {
    if (this.#turnAt !== undefined) this.#check(this.#turnAt);
    if (this.#dropReported || this.#clock.now() - this.#slowAt > QUIET_MS) return;
    this.#dropReported = true;
    report(
      "the connection broke while handlers were slow; a server drops connections that are read too slowly, and messages are lost",
    );
  }

  #endTurn(): void {
    if (this.#turnAt !== undefined) this.#check(this.#turnAt);
    this.#turnAt = undefined;
    this.#messages = 0;
  }

  #check(since: number): void {
    const now = this.#clock.now();
    if (now - since < SLOW_MS) return;
    const isNews = now - this.#slowAt > QUIET_MS;
    this.#slowAt = now;
    if (!isNews) return;
    this.#dropReported = false;
    report(`handlers took ${Math.round(now - since)} ms for ${this.#messages} messages, during which nothing was read`);
  }
}

function report(what: string): void {
  warn("HIVEPACE_BUS_SLOW_CONSUMER", `the nats bus is a slow consumer: ${what}`);
}
