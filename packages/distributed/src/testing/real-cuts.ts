/** Two cuts of one swarm are at least a cooldown apart; closer ones are the same cut, reported by several agents. */
const SAME_MS = 5_000;

interface Cut {
  readonly at: number;
  /** World time at which the first agent knew of the cut. */
  readonly firstAt: number;
  readonly known: Set<unknown>;
  spreadMs: number;
}

/**
 * The cuts of a swarm of hives or limiters, which expose a cut only by its age, and how long each took to reach all
 * agents.
 */
export class RealCuts {
  readonly #cuts: Cut[] = [];

  get count(): number {
    return this.#cuts.length;
  }

  get spreadMs(): number {
    return Math.max(0, ...this.#cuts.map(({ spreadMs }) => spreadMs));
  }

  /** Notes that an agent, one of `live()`, knows of a cut made at `cutAt`. All times are world times. */
  note(agent: unknown, cutAt: number, now: number, live: () => number): void {
    let cut = this.#cuts.find(({ at }) => Math.abs(at - cutAt) < SAME_MS);
    if (!cut) {
      cut = { at: cutAt, firstAt: now, known: new Set(), spreadMs: 0 };
      this.#cuts.push(cut);
    }
    if (cut.known.has(agent)) return;
    cut.known.add(agent);
    // Agents that start after the cut learn of the cut later and do not count.
    if (cut.known.size <= live()) cut.spreadMs = now - cut.firstAt;
  }
}
