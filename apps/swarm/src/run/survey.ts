import { type Clock, systemClock } from "@hivepace/core";
import type { Measured } from "../agent/words.ts";
import type { Family } from "../metrics/family.ts";

type Answer = readonly Family[] | undefined;

interface Question {
  readonly number: number;
  /** Answers by agent id, in the order of the agents asked. */
  readonly answers: Map<string, Answer>;
  readonly waitingFor: Set<string>;
  readonly end: () => void;
  readonly answered: Promise<(readonly Family[])[]>;
}

/** Shorter than a scrape interval of one second, the shortest that Prometheus users configure. */
export const ANSWER_MS = 500;

/** Collects metrics from agents. Agents that have ended, or do not answer in time, are left out. */
export class Survey {
  readonly #clock: Clock;
  #question: Question | undefined;
  #asked = 0;
  #isClosed = false;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** `put` sends the question to the agents. Concurrent callers share the question under way. */
  ask(agentIds: readonly string[], put: (question: number) => void): Promise<(readonly Family[])[]> {
    if (this.#question) return this.#question.answered;
    if (this.#isClosed || agentIds.length === 0) return Promise.resolve([]);
    const question = this.#open(agentIds);
    put(question.number);
    return question.answered;
  }

  receive({ question: number, agentId, families }: Measured): void {
    // A late answer, to a question that has ended.
    if (this.#question?.number !== number || !this.#question.waitingFor.has(agentId)) return;
    this.#question.answers.set(agentId, families);
    this.leave(agentId);
  }

  /** Stops waiting for an agent that has ended. */
  leave(agentId: string): void {
    const { waitingFor, end } = this.#question ?? {};
    if (waitingFor?.delete(agentId) && waitingFor.size === 0) end?.();
  }

  /** Resolves pending callers with the answers so far. */
  close(): void {
    this.#isClosed = true;
    this.#question?.end();
  }

  #open(agentIds: readonly string[]): Question {
    const answers = new Map<string, Answer>(agentIds.map((agentId) => [agentId, undefined]));
    let end = (): void => {};
    const answered = new Promise<(readonly Family[])[]>((resolve) => {
      const cancel = this.#clock.after(ANSWER_MS, () => end());
      end = () => {
        cancel();
        this.#question = undefined;
        resolve([...answers.values()].filter((answer) => answer !== undefined));
      };
    });
    this.#question = { number: ++this.#asked, answers, waitingFor: new Set(agentIds), end, answered };
    return this.#question;
  }
}
