import type { Sent } from "./record.ts";

/** What became of requests since the start; it takes no more room the longer it runs. */
export interface Tally {
  readonly sent: number;
  readonly accepted: number;
  /** Answered with 429, for whatever reason. */
  readonly rejected429: number;
  /** Of those that were accepted. */
  readonly tokens: number;
}

type Counts = { -readonly [K in keyof Tally]: Tally[K] };

const MOST_AGENTS = 10_000;

/** Counts requests, of all together and of each agent. */
export class Tallies {
  readonly all: Counts = none();
  readonly #agents = new Map<string, Counts>();

  get agents(): ReadonlyMap<string, Tally> {
    return this.#agents;
  }

  add(sent: Sent): void {
    count(this.all, sent);
    let counts = this.#agents.get(sent.agent);
    if (counts === undefined) {
      // Names come from outside: whoever sends a new one with each request must not fill the memory.
      if (this.#agents.size >= MOST_AGENTS) return;
      counts = none();
      this.#agents.set(sent.agent, counts);
    }
    count(counts, sent);
  }
}

function none(): Counts {
  return { sent: 0, accepted: 0, rejected429: 0, tokens: 0 };
}

function count(counts: Counts, { accepted, status, tokens }: Sent): void {
  counts.sent++;
  if (accepted) {
    counts.accepted++;
    counts.tokens += tokens;
  }
  if (status === 429) counts.rejected429++;
}
