import type { Agent } from "../engine/index.ts";

/** Counts cuts, and measures how long each took from the first agent that knew of the cut to the last. */
export class Cuts {
  readonly #cuts = new Map<number, { readonly at: number; known: number; spreadMs: number }>();
  readonly #epochs = new Map<Agent, number>();

  get count(): number {
    return this.#cuts.size;
  }

  get spreadMs(): number {
    return Math.max(0, ...[...this.#cuts.values()].map(({ spreadMs }) => spreadMs));
  }

  /** Notes the cut that an agent learned of in its last step. `live` returns the number of live agents. */
  note(agent: Agent, now: number, live: () => number): void {
    for (const { backoff } of agent.quotas.values()) {
      const { epoch } = backoff.level;
      if (epoch === 0 || this.#epochs.get(agent) === epoch) continue;
      this.#epochs.set(agent, epoch);
      const cut = this.#cuts.get(epoch) ?? { at: now, known: 0, spreadMs: 0 };
      this.#cuts.set(epoch, cut);
      // Agents that join after the cut learn of the cut later and do not count.
      if (++cut.known <= live()) cut.spreadMs = now - cut.at;
    }
  }
}
