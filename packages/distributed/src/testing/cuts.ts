import type { Agent } from "../engine/agent.ts";

/** Which cuts there were, and how long it took from the first agent that knew of one to the last. */
export class Cuts {
  readonly #cuts = new Map<number, { readonly at: number; known: number; spreadMs: number }>();
  readonly #epochs = new Map<Agent, number>();

  get count(): number {
    return this.#cuts.size;
  }

  get spreadMs(): number {
    return Math.max(0, ...[...this.#cuts.values()].map(({ spreadMs }) => spreadMs));
  }

  /** Looks at an agent that has just done something, among so many. */
  note(agent: Agent, now: number, live: () => number): void {
    for (const { level } of agent.pools.values()) {
      const { epoch } = level;
      if (epoch === 0 || this.#epochs.get(agent) === epoch) continue;
      this.#epochs.set(agent, epoch);
      const cut = this.#cuts.get(epoch) ?? { at: now, known: 0, spreadMs: 0 };
      this.#cuts.set(epoch, cut);
      // Those who come later learn it later, of course.
      if (++cut.known <= live()) cut.spreadMs = now - cut.at;
    }
  }
}
