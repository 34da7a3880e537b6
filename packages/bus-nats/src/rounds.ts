/** One round trip that several messages share. */
export interface Round {
  /** The server has read everything up to here; rejects when the connection broke before it said so. */
  readonly done: Promise<void>;
  /** The names that the server refused meanwhile. Complete when it is done. */
  readonly refused: Set<string>;
}

/**
 * Confirms what is published: NATS has no answer to a message, but answers a flush after all that came before it. All
 * that is published in one tick shares one.
 */
export class Rounds {
  readonly #flush: () => Promise<void>;
  readonly #open = new Set<Round>();
  #next: Round | undefined;

  constructor(flush: () => Promise<void>) {
    this.#flush = flush;
  }

  /** Join before the client gets the message: then its own microtask comes second, and one write carries both. */
  join(): Round {
    this.#next ??= this.#begin();
    return this.#next;
  }

  refuse(name: string): void {
    // A refusal comes before the answer of its round. Which of the open ones that is does not matter: the same name is
    // refused in the others too.
    for (const round of this.#open) round.refused.add(name);
  }

  #begin(): Round {
    const round: Round = { done: Promise.resolve().then(() => this.#run(round)), refused: new Set() };
    this.#open.add(round);
    // A message that the client did not take never waits for it.
    round.done.catch(() => {});
    return round;
  }

  async #run(round: Round): Promise<void> {
    this.#next = undefined;
    try {
      await this.#flush();
      // A refusal in the same read reaches us as a status, a few microtasks later.
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      this.#open.delete(round);
    }
  }
}
