import { type Clock, systemClock } from "@hivepace/core";
import type { Measured } from "../agent/words.ts";
import type { Family } from "../metrics/family.ts";

type Answer = readonly Family[] | undefined;

interface Question {
  readonly number: number;
  /** By the agents that were asked, in their order. */
  readonly answers: Map<string, Answer>;
  readonly waitingFor: Set<string>;
  readonly end: () => void;
  readonly answered: Promise<(readonly Family[])[]>;
}

/** Less than Prometheus waits that looks every second. */
export const ANSWER_MS = 500;

/** Asks agents what they have measured. One that is gone, or does not answer in time, is left out. */
export class Survey {
  readonly #clock: Clock;
  #question: Question | undefined;
  #asked = 0;
  #isClosed = false;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** `put` brings the question to the agents. Whoever asks meanwhile hears the same. */
  ask(agentIds: readonly string[], put: (question: number) => void): Promise<(readonly Family[])[]> {
    if (this.#question) return this.#question.answered;
    if (this.#isClosed || agentIds.length === 0) return Promise.resolve([]);
    const question = this.#open(agentIds);
    put(question.number);
    return question.answered;
  }

  hear({ question: number, agentId, families }: Measured): void {
    // What comes too late answers a question that nobody has any more.
    if (this.#question?.number !== number || !this.#question.waitingFor.has(agentId)) return;
    this.#question.answers.set(agentId, families);
    this.leave(agentId);
  }

  /** It will not answer any more. */
  leave(agentId: string): void {
    const { waitingFor, end } = this.#question ?? {};
    if (waitingFor?.delete(agentId) && waitingFor.size === 0) end?.();
  }

  /** Whoever waits gets what there is. */
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
