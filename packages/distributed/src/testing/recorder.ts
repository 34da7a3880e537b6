import { type Amounts, at, fairShares } from "../engine/index.ts";
import type { Allowance } from "./allowance.ts";
import { ExactWindow } from "./exact-window.ts";
import type { Figures, PartFigures, SwarmReport } from "./report.ts";
import { Trace } from "./trace.ts";
import type { Call, Outcome } from "./world.ts";

const TICK_MS = 50;

/** Records events and computes the figures of a run. All times are world times in milliseconds. */
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
  readonly #refusedPerSecond: number[] = [];
  #joinMs = 0;
  #accepted = 0;
  #failed = 0;
  #longestGap = 0;
  readonly trace = new Trace();
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
    this.trace.add(now, agent, outcome, actual);
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
    const second = Math.floor(now / 1000);
    if (outcome === "refused") this.#refusedPerSecond[second] = (this.#refusedPerSecond[second] ?? 0) + 1;
    if (!accepted) return;
    this.#accepted++;
    this.#acceptedWindow.add(now, actual);
    this.#perSecond.forEach((seconds, i) => {
      seconds[second] = (seconds[second] ?? 0) + at(actual, i);
    });
    if (now < this.#from) return;
    this.#served[agent] = at(this.#served, agent) + this.#size(actual);
    this.#waits.push(now - call.arrivedAt);
  }

  /** Forgets that an agent was waiting, because it is gone. */
  gone(agent: number): void {
    this.#waitingSince[agent] = Infinity;
  }

  report(run: Omit<SwarmReport, keyof Figures>): SwarmReport {
    return { ...run, ...this.figures(run.durationMs) };
  }

  /** The figures of an endpoint or of a key. */
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
      trace: `${this.trace}`,
      seconds: Array.from({ length: seconds }, (_, s) => (this.#perSecond[binding]?.[s] ?? 0) / perSecond),
      refusedSeconds: Array.from({ length: seconds }, (_, s) => this.#refusedPerSecond[s] ?? 0),
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

  /** Fairness among agents that wanted clearly more than the fair level. */
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
