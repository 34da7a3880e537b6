import type { Sent } from "./record.ts";

/** Totals of requests since the start, in constant memory. */
export interface Tally {
  readonly sent: number;
  readonly accepted: number;
  /** Responses with status 429, for whatever reason. */
  readonly rejected429: number;
  /** Tokens of the accepted requests. */
  readonly tokens: number;
}

type Counts = { -readonly [K in keyof Tally]: Tally[K] };

const MOST_AGENTS = 10_000;

/** Counts requests, in total and per agent. */
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
      // Agent names are untrusted: a new name with each request must not exhaust the memory.
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
