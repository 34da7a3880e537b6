/** Two cuts of one swarm are at least a cooldown apart; what is closer together is one cut, learned by several ways. */
const SAME_MS = 5_000;

interface Cut {
  readonly at: number;
  /** When the first agent knew of it. */
  readonly firstAt: number;
  readonly known: Set<unknown>;
  spreadMs: number;
}

/** The cuts of a swarm of real objects, which show a cut by its age; and how long each took to be known everywhere. */
export class RealCuts {
  readonly #cuts: Cut[] = [];

  get count(): number {
    return this.#cuts.length;
  }

  get spreadMs(): number {
    return Math.max(0, ...this.#cuts.map(({ spreadMs }) => spreadMs));
  }

  /** An agent, one of `live()`, knows of a cut that was made at `cutAt`. Times are the world's. */
  note(agent: unknown, cutAt: number, now: number, live: () => number): void {
    let cut = this.#cuts.find(({ at }) => Math.abs(at - cutAt) < SAME_MS);
    if (!cut) {
      cut = { at: cutAt, firstAt: now, known: new Set(), spreadMs: 0 };
      this.#cuts.push(cut);
    }
    if (cut.known.has(agent)) return;
    cut.known.add(agent);
    // Agents that start later learn of it later.
    if (cut.known.size <= live()) cut.spreadMs = now - cut.firstAt;
  }
}
