/** One round trip that several messages share. */
export interface Round {
  /** Resolves when the server has read everything sent before the flush; rejects when the connection broke earlier. */
  readonly done: Promise<void>;
  /** NATS subjects that the server refused during the round. Complete once `done` has settled. */
  readonly refused: Set<string>;
}

/**
 * Confirms published messages. NATS does not acknowledge a message, but answers a flush after everything sent before
 * it. All messages of one tick share one flush.
 */
export class Rounds {
  readonly #flush: () => Promise<void>;
  readonly #open = new Set<Round>();
  #next: Round | undefined;

  constructor(flush: () => Promise<void>) {
    this.#flush = flush;
  }

  /**
   * Returns the round of this tick. Call it before the client gets the message: then the flush is queued before the
   * client writes, and one write carries the message and the flush.
   */
  join(): Round {
    this.#next ??= this.#begin();
    return this.#next;
  }

  /** Records that the server refused a publish to this NATS subject. */
  refuse(name: string): void {
    // A refusal arrives before the answer of its round. It is safe to add the subject to every open round, because the
    // same subject is refused in all of them.
    for (const round of this.#open) round.refused.add(name);
  }

  #begin(): Round {
    const round: Round = { done: Promise.resolve().then(() => this.#run(round)), refused: new Set() };
    this.#open.add(round);
    // Avoids an unhandled rejection when the client threw and nothing awaits the round.
    round.done.catch(() => {});
    return round;
  }

  async #run(round: Round): Promise<void> {
    this.#next = undefined;
    try {
      await this.#flush();
      // The client reports a refusal from the same read as a status, a few microtasks later.
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      this.#open.delete(round);
    }
  }
}
