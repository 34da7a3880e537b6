import { type Amounts, at } from "../engine/amounts.ts";
import { fairShares } from "../engine/share.ts";
import type { Allowance } from "./allowance.ts";
import { ExactWindow } from "./exact-window.ts";
import type { Drive } from "./options.ts";
import type { Call, Outcome } from "./world.ts";

/** What one endpoint, or one key, has come to. Plain data. */
export interface PartFigures {
  /** Accepted, in parts of the configured limit, of the dimension that was used most. */
  readonly use: number;
  /** Accepted, in parts of what the provider allowed meanwhile. */
  readonly useOfAllowed: number;
  /** The most that was sent in any window, in limits. */
  readonly max: number;
  readonly sent: number;
  readonly accepted: number;
  readonly refused: number;
  readonly failed: number;
  readonly wait: { readonly p50: number; readonly p90: number; readonly p99: number };
}

/** What a run has come to. Plain data. */
export interface SwarmReport {
  readonly scheme: string;
  /** The code that ran. */
  readonly drive: Drive;
  readonly seed: number;
  readonly agents: number;
  readonly durationMs: number;
  /** Accepted by the provider, in parts of the configured limit, of the limit that was used most. */
  readonly use: number;
  /** The same in parts of what the provider really allowed at the time: less than the limit when it fell. */
  readonly useOfAllowed: number;
  /** The most that was sent in any window, cold start included, in limits. */
  readonly max: number;
  /** The same without what was refused before: how far above the limit any single attempt reached. */
  readonly peak: number;
  readonly sent: number;
  readonly accepted: number;
  readonly refused: number;
  /** Calls that the provider answered with a server error or with overload. */
  readonly failed: number;
  /** Figures of each endpoint and of each key, by name. */
  readonly endpoints: Readonly<Record<string, PartFigures>>;
  readonly keys: Readonly<Record<string, PartFigures>>;
  /** Jain's index of what busy agents got, 1 is perfectly fair; and how many of them there were. */
  readonly jain: number;
  readonly busyAgents: number;
  /** How long calls waited that were sent, in milliseconds. */
  readonly wait: { readonly p50: number; readonly p90: number; readonly p99: number };
  /** The longest time for which an agent had calls waiting and none sent, in windows. */
  readonly longestGap: number;
  readonly messagesPerAgentSecond: number;
  /** Calls of the store; and how often it began to learn, over all pools. */
  readonly storeCallsPerAgentSecond: number;
  readonly learnings: number;
  /** How often the level was cut, and how long it took until all who could hear of it knew, at most. */
  readonly cuts: number;
  readonly cutSpreadMs: number;
  /** How many different levels those had who were there in the end, and how many different limits. */
  readonly levels: number;
  readonly limits: number;
  /** From the start of an agent that came later, or from its first call, to the first that was sent, at most. */
  readonly joinMs: number;
  /** The most that was sent within 50 ms, in parts of the mean. */
  readonly busiestTick: number;
  /** The same for the same seed. */
  readonly trace: string;
  /** What was accepted in each second, in parts of a second's limit. */
  readonly seconds: readonly number[];
  /** The lowest level that any agent had at the end of each second. */
  readonly levelSeconds: readonly number[];
  /** What each agent got, from when figures count. */
  readonly served: readonly number[];
  /** What each agent wanted to send then. */
  readonly offered: readonly number[];
}

const TICK_MS = 50;

/** Writes down what happens and makes figures of it. Time is in milliseconds of the world. */
export class Recorder {
  readonly #limits: Amounts;
  readonly #weights: readonly number[];
  readonly #windowMs: number;
  readonly #from: number;
  readonly #allowance: Allowance;
  #sends = 0;
  readonly #perSecond: number[][];
  readonly #waits: number[] = [];
  readonly #served: number[];
  readonly #offered: number[];
  readonly #waitingSince: number[];
  readonly #joinedAt: number[];
  readonly #ticks: number[] = [];
  #joinMs = 0;
  #accepted = 0;
  #failed = 0;
  #longestGap = 0;
  #trace = 0x811c9dc5;
  readonly #sentWindow: ExactWindow;
  readonly #acceptedWindow: ExactWindow;
  #max = 0;
  #peak = 0;

  constructor(limits: Amounts, windowMs: number, weights: readonly number[], from: number, allowance: Allowance) {
    this.#allowance = allowance;
    const agents = weights.length;
    this.#weights = weights;
    this.#limits = limits;
    this.#windowMs = windowMs;
    this.#from = from;
    this.#sentWindow = new ExactWindow(limits.length, windowMs);
    this.#acceptedWindow = new ExactWindow(limits.length, windowMs);
    this.#perSecond = limits.map(() => []);
    this.#served = new Array<number>(agents).fill(0);
    this.#offered = new Array<number>(agents).fill(0);
    this.#waitingSince = new Array<number>(agents).fill(Infinity);
    this.#joinedAt = new Array<number>(agents).fill(-Infinity);
  }

  joined(agent: number, now: number): void {
    this.#joinedAt[agent] = now;
  }

  offered(call: Call): void {
    if (call.arrivedAt >= this.#from)
      this.#offered[call.agent] = at(this.#offered, call.agent) + this.#size(call.actual);
    if (at(this.#waitingSince, call.agent) === Infinity) this.#waitingSince[call.agent] = call.arrivedAt;
  }

  sent(call: Call, outcome: Outcome, stillWaiting: boolean): void {
    const { agent, sentAt: now, actual } = call;
    const accepted = outcome === "accepted";
    if (outcome === "failed" || outcome === "overloaded") this.#failed++;
    this.mark(now, agent + (accepted ? 0.25 : 0) + this.#size(actual));
    this.#sends++;
    const joinedAt = at(this.#joinedAt, agent);
    if (joinedAt > 0) this.#joinMs = Math.max(this.#joinMs, now - Math.max(joinedAt, call.arrivedAt));
    this.#joinedAt[agent] = -Infinity;
    if (now >= this.#from) {
      const tick = Math.floor((now - this.#from) / TICK_MS);
      this.#ticks[tick] = (this.#ticks[tick] ?? 0) + 1;
    }
    this.#sentWindow.expire(now);
    this.#sentWindow.add(now, actual);
    this.#max = Math.max(this.#max, this.#size(this.#sentWindow.sum));
    this.#acceptedWindow.expire(now);
    this.#peak = Math.max(this.#peak, this.#size(this.#acceptedWindow.sum.map((sum, i) => sum + at(actual, i))));
    this.#longestGap = Math.max(this.#longestGap, now - at(this.#waitingSince, agent));
    this.#waitingSince[agent] = stillWaiting ? now : Infinity;
    if (!accepted) return;
    this.#accepted++;
    this.#acceptedWindow.add(now, actual);
    const second = Math.floor(now / 1000);
    this.#perSecond.forEach((seconds, i) => {
      seconds[second] = (seconds[second] ?? 0) + at(actual, i);
    });
    if (now < this.#from) return;
    this.#served[agent] = at(this.#served, agent) + this.#size(actual);
    this.#waits.push(now - call.arrivedAt);
  }

  /** An agent that is gone waits for nothing. */
  gone(agent: number): void {
    this.#waitingSince[agent] = Infinity;
  }

  /** Anything that must be the same when a run is repeated. */
  mark(now: number, what: number): void {
    this.#trace = Math.imul(this.#trace ^ Math.round((now * 8 + what) * 1e4), 0x01000193);
  }

  report(run: Omit<SwarmReport, keyof Figures>): SwarmReport {
    return { ...run, ...this.figures(run.durationMs) };
  }

  /** The figures of a part of the run: of an endpoint or of a key. */
  part(durationMs: number): PartFigures {
    const { use, useOfAllowed, max, sent, accepted, refused, failed, wait } = this.figures(durationMs);
    return { use, useOfAllowed, max, sent, accepted, refused, failed, wait };
  }

  figures(durationMs: number): Figures {
    const seconds = Math.floor(durationMs / 1000);
    const from = Math.floor(this.#from / 1000);
    const uses = this.#perSecond.map((amounts, i) => {
      let sum = 0;
      for (let s = from; s < seconds; s++) sum += amounts[s] ?? 0;
      return sum / (at(this.#limits, i) / this.#windowMs) / ((seconds - from) * 1000);
    });
    const binding = uses.indexOf(Math.max(...uses));
    const perSecond = (at(this.#limits, binding) * 1000) / this.#windowMs;
    const waits = this.#waits.sort((a, b) => a - b);
    const quantile = (q: number) => waits[Math.min(waits.length - 1, Math.floor(q * waits.length))] ?? 0;
    for (const since of this.#waitingSince)
      if (since < Infinity) this.#longestGap = Math.max(this.#longestGap, durationMs - since);
    return {
      use: at(uses, binding),
      useOfAllowed: at(uses, binding) / this.#allowance.between(this.#from, durationMs),
      max: this.#max,
      peak: this.#peak,
      sent: this.#sends,
      accepted: this.#accepted,
      refused: this.#sends - this.#accepted - this.#failed,
      failed: this.#failed,
      ...this.#fairness(),
      wait: { p50: quantile(0.5), p90: quantile(0.9), p99: quantile(0.99) },
      longestGap: this.#longestGap / this.#windowMs,
      trace: (this.#trace >>> 0).toString(16).padStart(8, "0"),
      seconds: Array.from({ length: seconds }, (_, s) => (this.#perSecond[binding]?.[s] ?? 0) / perSecond),
      served: this.#served,
      offered: this.#offered,
      joinMs: this.#joinMs,
      busiestTick: this.#busiestTick(durationMs),
    };
  }

  #busiestTick(durationMs: number): number {
    let sum = 0;
    let most = 0;
    for (const sent of this.#ticks) {
      sum += sent ?? 0;
      most = Math.max(most, sent ?? 0);
    }
    const mean = sum / Math.max(1, Math.floor((durationMs - this.#from) / TICK_MS));
    return mean > 0 ? most / mean : 0;
  }

  /** Among those who wanted clearly more than the fair level: how even is what they got? */
  #fairness(): { jain: number; busyAgents: number } {
    const total = this.#served.reduce((sum, amount) => sum + amount, 0);
    const fair = fairShares(total, this.#offered, this.#weights);
    const busy = this.#served
      .map((amount, i) => amount / at(this.#weights, i))
      .filter((_, i) => at(this.#offered, i) > 1.3 * at(fair, i));
    const sum = busy.reduce((all, amount) => all + amount, 0);
    const squares = busy.reduce((all, amount) => all + amount * amount, 0);
    return {
      jain: busy.length > 1 && squares > 0 ? (sum * sum) / (busy.length * squares) : 1,
      busyAgents: busy.length,
    };
  }

  #size(amounts: Amounts): number {
    return Math.max(...amounts.map((amount, i) => amount / at(this.#limits, i)));
  }
}

type Figures = Pick<
  SwarmReport,
  | "use"
  | "useOfAllowed"
  | "failed"
  | "max"
  | "peak"
  | "sent"
  | "accepted"
  | "refused"
  | "jain"
  | "busyAgents"
  | "wait"
  | "longestGap"
  | "trace"
  | "seconds"
  | "served"
  | "offered"
  | "joinMs"
  | "busiestTick"
>;

/** The part of the limit that was used between two times, in milliseconds. */
export function useBetween({ seconds }: SwarmReport, from: number, to: number): number {
  const part = seconds.slice(Math.floor(from / 1000), Math.floor(to / 1000));
  return part.reduce((sum, use) => sum + use, 0) / part.length;
}
