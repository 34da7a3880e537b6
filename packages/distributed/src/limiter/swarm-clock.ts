import type { Clock } from "@hivepace/core";
import { BadMessage } from "../wire/fields.ts";

/**
 * The time of a swarm, for the age of signed messages. The wall clocks of agents may differ by any amount: each agent
 * counts from its own start, and moves its clock forward to the latest time that it has received, as a hybrid logical
 * clock does. Agents that receive each other's messages therefore agree on a time that no recording can reach.
 *
 * A message is too old when it was sent before this agent started, or longer ago than `maxAgeMs`. Repetitions of
 * younger messages are recognised by their sequence numbers, because an agent remembers its peers for that time.
 */
export class SwarmClock {
  readonly #clock: Clock;
  readonly #maxAgeMs: () => number;
  /** Difference between the time of the swarm and the monotonic clock of this agent, in milliseconds. */
  #offset: number;
  readonly #startedAt: number;
  /** By how much this agent's own clock is behind the time of the swarm. */
  behindMs = 0;

  /**
   * A listener never publishes, so agents cannot adopt its time; until its first message the clock of a listener has no
   * time.
   */
  constructor(clock: Clock, maxAgeMs: () => number, isListener = false) {
    this.#clock = clock;
    this.#maxAgeMs = maxAgeMs;
    this.#offset = isListener ? -Infinity : clock.epochMs() - clock.now();
    this.#startedAt = isListener ? -Infinity : this.now();
  }

  now(): number {
    return this.#clock.now() + this.#offset;
  }

  /**
   * Adopts the time at which a message was sent, if that is later than the own time. Throws `BadMessage` for an old
   * message.
   */
  receive(saidAt: number): void {
    const now = this.now();
    if (saidAt < this.#startedAt || saidAt < now - this.#maxAgeMs()) throw new BadMessage(TOO_OLD);
    if (saidAt <= now) return;
    this.#offset = saidAt - this.#clock.now();
    if (now > -Infinity) this.behindMs += saidAt - now;
  }
}

/** Why a message with a valid signature is ignored: it is a recording, or its sender's clock is behind. */
export const TOO_OLD = "too old";
