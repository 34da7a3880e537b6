import type { AgentState, Word } from "../agent/words.ts";

/** The demo's record of a running agent. */
export interface Watched {
  readonly agentId: string;
  state: AgentState | undefined;
  /** The time of the agent's last state, in monotonic milliseconds of the demo. */
  reportedAt: number;
  /** Whether the agent has ever known all agents that ran at that time. */
  hasMet: boolean;
  cuts: number;
  cutAt: number | undefined;
}

export type SwarmNews =
  /** All running agents have cut, or those that had after `SPREAD_MS`. `tookMs`: from the first cut to the last. */
  | {
      readonly type: "reduced";
      readonly by: string;
      readonly agents: number;
      readonly of: number;
      readonly tookMs: number;
    }
  /** All agents have their whole limit again. */
  | { readonly type: "recovered"; readonly agents: number; readonly afterMs: number };

/**
 * A cut that has not reached every agent after this time is reported without the missing ones. Further reductions until then
 * belong to the same cut: agents that are refused at the same time cut to slightly different levels, and agree on one.
 */
const SPREAD_MS = 10_000;

interface Cut {
  readonly by: string;
  readonly startedAt: number;
  /** The start of the first of several cuts without a recovery between them. */
  readonly reducedSince: number;
  readonly firstAt: number;
  lastAt: number;
  readonly reached: Set<string>;
  isReported: boolean;
}

/** Derives swarm-wide cuts and recoveries from the messages of the agents. Time is an argument. */
export class Watch {
  readonly agents = new Map<string, Watched>();
  readonly #isTogether: boolean;
  readonly #emit: (news: SwarmNews) => void;
  #cut: Cut | undefined;
  #reductions = 0;
  #recoveries = 0;

  /**
   * `isTogether`: agents that share a limit cut together, so the number of reductions is the maximum over the agents.
   */
  constructor(isTogether: boolean, emit: (news: SwarmNews) => void) {
    this.#isTogether = isTogether;
    this.#emit = emit;
  }

  get reductions(): number {
    return this.#reductions;
  }

  get recoveries(): number {
    return this.#recoveries;
  }

  /** Whether a cut is still unrecovered. */
  get isReduced(): boolean {
    return this.#cut !== undefined;
  }

  /** The lowest level of all agents. */
  get level(): number {
    return Math.min(1, ...[...this.agents.values()].map(({ state }) => state?.level ?? 1));
  }

  /** Whether every agent knows all running agents, and no other. */
  get isWhole(): boolean {
    return [...this.agents.values()].every((agent) => this.#knowsAll(agent));
  }

  /** Whether each agent has ever known all others: on a busy machine they may not all do so at the same time. */
  get haveMet(): boolean {
    return [...this.agents.values()].every(({ hasMet }) => hasMet);
  }

  add(agentId: string): void {
    this.agents.set(agentId, {
      agentId,
      state: undefined,
      reportedAt: -Infinity,
      hasMet: false,
      cuts: 0,
      cutAt: undefined,
    });
  }

  remove(agentId: string): void {
    this.agents.delete(agentId);
  }

  receive(word: Word, now: number): void {
    const agent = this.agents.get(word.agentId);
    if (agent === undefined) return;
    if (word.type === "state") {
      agent.state = word.state;
      agent.reportedAt = now;
      agent.hasMet ||= this.#knowsAll(agent);
    } else if (word.type === "reduced") {
      this.#reduced(agent, word, now);
    }
    this.evaluate(now);
  }

  /** Evaluates the state without a message, since some reports are due after a delay. */
  evaluate(now: number): void {
    const cut = this.#cut;
    if (cut === undefined) return;
    const running = [...this.agents.values()];
    const isEverywhere = running.every(({ agentId }) => cut.reached.has(agentId));
    if (!cut.isReported && (isEverywhere || now - cut.startedAt > SPREAD_MS)) {
      cut.isReported = true;
      const { by, firstAt, lastAt } = cut;
      const agents = running.filter(({ agentId }) => cut.reached.has(agentId)).length;
      this.#emit({ type: "reduced", by, agents, of: running.length, tookMs: lastAt - firstAt });
    }
    const isOver = running.every(
      ({ state, reportedAt, cutAt }) =>
        (state?.level ?? 0) >= 1 && reportedAt > Math.max(cut.startedAt, cutAt ?? -Infinity),
    );
    if (!(cut.isReported && isOver)) return;
    this.#cut = undefined;
    this.#recoveries++;
    this.#emit({ type: "recovered", agents: running.length, afterMs: now - cut.reducedSince });
  }

  #knowsAll({ state }: Watched): boolean {
    const { size } = this.agents;
    return state?.members === size && (state.mode === "member" || (size === 1 && state.mode === "alone"));
  }

  #reduced(agent: Watched, { at, by }: Extract<Word, { type: "reduced" }>, now: number): void {
    agent.cuts++;
    agent.cutAt = now;
    this.#reductions = this.#isTogether ? Math.max(this.#reductions, agent.cuts) : this.#reductions + 1;
    if (this.#cut === undefined || now - this.#cut.startedAt > SPREAD_MS) {
      const reducedSince = this.#cut?.reducedSince ?? now;
      this.#cut = { by, startedAt: now, reducedSince, firstAt: at, lastAt: at, reached: new Set(), isReported: false };
    }
    this.#cut?.reached.add(agent.agentId);
    if (this.#cut) this.#cut.lastAt = Math.max(this.#cut.lastAt, at);
  }
}
