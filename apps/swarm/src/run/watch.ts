import type { AgentState, Word } from "../agent/words.ts";

/** What the demo knows of an agent that runs. */
export interface Watched {
  readonly agentId: string;
  state: AgentState | undefined;
  /** When it last said how it is, and when it last cut: monotonic milliseconds of the demo. */
  saidAt: number;
  /** At some time it knew all who ran then. */
  hasMet: boolean;
  cuts: number;
  cutAt: number | undefined;
}

export type SwarmNews =
  /** All who run have cut, or those who had after a while. `tookMs`: from the first to the last. */
  | {
      readonly type: "reduced";
      readonly by: string;
      readonly agents: number;
      readonly of: number;
      readonly tookMs: number;
    }
  /** All are at their whole limit again. */
  | { readonly type: "recovered"; readonly agents: number; readonly afterMs: number };

/** A cut that has not reached an agent by then is told without it. */
const SPREAD_MS = 3_000;

interface Cut {
  readonly by: string;
  readonly startedAt: number;
  readonly firstAt: number;
  lastAt: number;
  readonly reached: Set<string>;
  isTold: boolean;
}

/** Makes sense of what agents say: who cut because of whom, and when all are as they were. Time is an argument. */
export class Watch {
  readonly agents = new Map<string, Watched>();
  readonly #isTogether: boolean;
  readonly #tell: (news: SwarmNews) => void;
  #cut: Cut | undefined;
  #reductions = 0;
  #recoveries = 0;

  /** Agents that are together cut together: what one of them did most often is what all did. */
  constructor(isTogether: boolean, tell: (news: SwarmNews) => void) {
    this.#isTogether = isTogether;
    this.#tell = tell;
  }

  get reductions(): number {
    return this.#reductions;
  }

  get recoveries(): number {
    return this.#recoveries;
  }

  /** A cut is known, and not over yet. */
  get isReduced(): boolean {
    return this.#cut !== undefined;
  }

  /** What is left of the limit, at the agent that has least. */
  get level(): number {
    return Math.min(1, ...[...this.agents.values()].map(({ state }) => state?.level ?? 1));
  }

  /** Every agent knows all others that run, and none besides. */
  get isWhole(): boolean {
    return [...this.agents.values()].every((agent) => this.#knowsAll(agent));
  }

  /** Each has known all others at some time: on a busy machine not all may do so at the same moment. */
  get haveMet(): boolean {
    return [...this.agents.values()].every(({ hasMet }) => hasMet);
  }

  add(agentId: string): void {
    this.agents.set(agentId, {
      agentId,
      state: undefined,
      saidAt: -Infinity,
      hasMet: false,
      cuts: 0,
      cutAt: undefined,
    });
  }

  remove(agentId: string): void {
    this.agents.delete(agentId);
  }

  hear(word: Word, now: number): void {
    const agent = this.agents.get(word.agentId);
    if (agent === undefined) return;
    if (word.type === "state") {
      agent.state = word.state;
      agent.saidAt = now;
      agent.hasMet ||= this.#knowsAll(agent);
    } else if (word.type === "reduced") {
      this.#reduced(agent, word, now);
    }
    this.look(now);
  }

  /** Also without a word: some things are told after a while. */
  look(now: number): void {
    const cut = this.#cut;
    if (cut === undefined) return;
    const running = [...this.agents.values()];
    const isEverywhere = running.every(({ agentId }) => cut.reached.has(agentId));
    if (!cut.isTold && (isEverywhere || now - cut.startedAt > SPREAD_MS)) {
      cut.isTold = true;
      const { by, firstAt, lastAt } = cut;
      const agents = running.filter(({ agentId }) => cut.reached.has(agentId)).length;
      this.#tell({ type: "reduced", by, agents, of: running.length, tookMs: lastAt - firstAt });
    }
    const isOver = running.every(
      ({ state, saidAt, cutAt }) => (state?.level ?? 0) >= 1 && saidAt > Math.max(cut.startedAt, cutAt ?? -Infinity),
    );
    if (!(cut.isTold && isOver)) return;
    this.#cut = undefined;
    this.#recoveries++;
    this.#tell({ type: "recovered", agents: running.length, afterMs: now - cut.startedAt });
  }

  #knowsAll({ state }: Watched): boolean {
    const { size } = this.agents;
    return state?.members === size && (state.mode === "member" || (size === 1 && state.mode === "alone"));
  }

  #reduced(agent: Watched, { at, by }: Extract<Word, { type: "reduced" }>, now: number): void {
    agent.cuts++;
    agent.cutAt = now;
    this.#reductions = this.#isTogether ? Math.max(this.#reductions, agent.cuts) : this.#reductions + 1;
    if (this.#cut === undefined || this.#cut.reached.has(agent.agentId)) {
      const startedAt = this.#cut?.startedAt ?? now;
      this.#cut = { by, startedAt, firstAt: at, lastAt: at, reached: new Set(), isTold: false };
    }
    this.#cut?.reached.add(agent.agentId);
    if (this.#cut) this.#cut.lastAt = Math.max(this.#cut.lastAt, at);
  }
}
