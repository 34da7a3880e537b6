import type { Timeline } from "./timeline.ts";

/** The usage of the slots of a simulated swarm. */
export interface SlotReport {
  /** The largest number of concurrent calls at the provider, in the whole run and in the measured time. */
  readonly most: number;
  readonly mostMeasured: number;
  /** The longest time for which more calls than allowed were in flight. */
  readonly overMs: number;
  /** The fraction of the slots that was used. */
  readonly use: number;
  /** Jain's fairness index of the calls per agent; 1 is perfectly fair. */
  readonly jain: number;
  /** Median time from the end of a call until the next one starts in its slot, in milliseconds. */
  readonly handoverMs: number;
  readonly calls: number;
  /** Calls per second that the provider completed, and number of calls that it refused, in the measured time. */
  readonly perSecond: number;
  readonly refused: number;
  readonly callsOf: readonly number[];
  readonly messagesPerCall: number;
  /** Calls in flight at the end, at the provider and in the view of each agent. */
  readonly inFlight: number;
  readonly known: readonly number[];
}

/** Observes the provider: the number of calls in flight, and when slots change hands. */
export class SlotRecorder {
  readonly #timeline: Timeline;
  readonly #slots: number;
  readonly #from: number;
  readonly #calls: number[];
  readonly #freedAt: number[] = [];
  readonly #handovers: number[] = [];
  #inFlight = 0;
  #most = 0;
  #mostMeasured = 0;
  #overSince: number | undefined;
  #overMs = 0;
  #usedMs = 0;
  #changedAt = 0;
  #total = 0;
  #completed = 0;
  #refused = 0;

  constructor(timeline: Timeline, slots: number, agents: number, from: number) {
    this.#timeline = timeline;
    this.#slots = slots;
    this.#from = from;
    this.#calls = new Array<number>(agents).fill(0);
  }

  begin(agent: number): void {
    const { now } = this.#timeline;
    this.#integrate();
    this.#inFlight++;
    this.#total++;
    this.#most = Math.max(this.#most, this.#inFlight);
    if (this.#inFlight > this.#slots) this.#overSince ??= now;
    const freedAt = this.#freedAt.shift();
    if (now < this.#from) return;
    this.#mostMeasured = Math.max(this.#mostMeasured, this.#inFlight);
    this.#calls[agent] = (this.#calls[agent] as number) + 1;
    if (freedAt !== undefined) this.#handovers.push(now - freedAt);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Counts a refused call, which never used a slot. */
  refused(): void {
    if (this.#timeline.now >= this.#from) this.#refused++;
  }

  end(_agent: number): void {
    const { now } = this.#timeline;
    this.#integrate();
    this.#inFlight--;
    if (now >= this.#from) this.#completed++;
    if (this.#inFlight < this.#slots) this.#freedAt.push(now);
    if (this.#inFlight <= this.#slots && this.#overSince !== undefined) {
      this.#overMs = Math.max(this.#overMs, now - this.#overSince);
      this.#overSince = undefined;
    }
  }

  report(published: number, known: readonly number[]): SlotReport {
    this.#integrate();
    const { now } = this.#timeline;
    const calls = this.#calls;
    const sum = calls.reduce((total, count) => total + count, 0);
    const squares = calls.reduce((total, count) => total + count * count, 0);
    const sorted = [...this.#handovers].sort((a, b) => a - b);
    const overMs = this.#overSince === undefined ? 0 : now - this.#overSince;
    return {
      most: this.#most,
      mostMeasured: this.#mostMeasured,
      overMs: Math.max(this.#overMs, overMs),
      use: this.#usedMs / (this.#slots * (now - this.#from)),
      jain: squares === 0 ? 1 : (sum * sum) / (calls.length * squares),
      handoverMs: sorted[Math.floor(sorted.length / 2)] ?? 0,
      calls: this.#total,
      perSecond: (1_000 * this.#completed) / (now - this.#from),
      refused: this.#refused,
      callsOf: calls,
      messagesPerCall: published / Math.max(1, this.#total),
      inFlight: this.#inFlight,
      known,
    };
  }

  #integrate(): void {
    const { now } = this.#timeline;
    const from = Math.max(this.#changedAt, this.#from);
    if (now > from) this.#usedMs += this.#inFlight * (now - from);
    this.#changedAt = now;
  }
}
