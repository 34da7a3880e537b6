import { type Clock, systemClock } from "@hivepace/core";
import { warn } from "@hivepace/core/internal";

/** Handlers that take this long for what was read at once keep everything else waiting. */
const SLOW_MS = 1_000;
/** After this long without a slow turn, the next one is news again. */
const QUIET_MS = 30_000;

/**
 * Notices that messages come faster than handlers take them. The server does not say so: it keeps what is not read,
 * and drops the connection when that becomes too much.
 */
export class SlowConsumerWatch {
  readonly #clock: Clock;
  readonly #afterTurn: (callback: () => void) => void;
  /** When the first message of this turn of the event loop came. */
  #turnAt: number | undefined;
  #messages = 0;
  #slowAt = Number.NEGATIVE_INFINITY;
  #dropReported = false;

  constructor(clock: Clock = systemClock, afterTurn: (callback: () => void) => void = setImmediate) {
    this.#clock = clock;
    this.#afterTurn = afterTurn;
  }

  /** Called before each message is handed on. */
  message(): void {
    this.#messages++;
    if (this.#turnAt !== undefined) return;
    this.#turnAt = this.#clock.now();
    this.#afterTurn(() => this.#endTurn());
  }

  /** The connection broke: perhaps because of us. */
  dropped(): void {
    if (this.#turnAt !== undefined) this.#look(this.#turnAt);
    if (this.#dropReported || this.#clock.now() - this.#slowAt > QUIET_MS) return;
    this.#dropReported = true;
    report("the connection broke while handlers were slow; a server drops who reads too slowly, and messages are lost");
  }

  #endTurn(): void {
    if (this.#turnAt !== undefined) this.#look(this.#turnAt);
    this.#turnAt = undefined;
    this.#messages = 0;
  }

  #look(since: number): void {
    const now = this.#clock.now();
    if (now - since < SLOW_MS) return;
    const isNews = now - this.#slowAt > QUIET_MS;
    this.#slowAt = now;
    if (!isNews) return;
    this.#dropReported = false;
    report(`handlers took ${Math.round(now - since)} ms for ${this.#messages} messages, and nothing is read meanwhile`);
  }
}

function report(what: string): void {
  warn("HIVEPACE_BUS_SLOW_CONSUMER", `the nats bus is a slow consumer: ${what}`);
}
