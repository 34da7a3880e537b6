import { seededRandom } from "@hivepace/core/testing";
import { type Amounts, at } from "../engine/index.ts";
import { type Cost, drawCost, drawEstimate, meanCost } from "./costs.ts";
import type { Endpoint } from "./endpoints.ts";
import type { SimulationOptions } from "./options.ts";
import type { Timeline } from "./timeline.ts";
import type { Call } from "./world.ts";

/** Generates calls: independent random arrivals, as from many users, and bursts. */
export class Demand {
  readonly #options: SimulationOptions;
  readonly #endpoints: readonly Endpoint[];
  readonly #windowMs: number;
  readonly #timeline: Timeline;
  readonly #arrive: (call: Call) => void;
  /** Mean size of one call, as a fraction of the limit. */
  readonly #size: number;

  constructor(
    options: SimulationOptions,
    endpoints: readonly Endpoint[],
    limits: Amounts,
    windowMs: number,
    timeline: Timeline,
    arrive: (call: Call) => void,
  ) {
    this.#options = options;
    this.#endpoints = endpoints;
    this.#windowMs = windowMs;
    this.#timeline = timeline;
    this.#arrive = arrive;
    const { tokens } = options.demand;
    const mean = tokens === undefined ? 0 : meanCost(tokens, seededRandom(5));
    this.#size = Math.max(...this.#amounts(mean).map((amount, i) => amount / at(limits, i)));
  }

  start(): void {
    const { agents, demand } = this.#options;
    for (let agent = 0; agent < agents; agent++) this.#flow(agent);
    for (const burst of demand.bursts ?? []) this.#timeline.at(burst.at, () => this.#burst(burst));
  }

  #flow(agent: number): void {
    const { demand, agents, seed } = this.#options;
    const random = seededRandom(seed * 104_729 + agent * 7 + 3);
    const partAt = partOfDemand(demand.skew ?? 1, agent, agents);
    const rateAt = (now: number): number => {
      const load = typeof demand.load === "function" ? demand.load(now) : demand.load;
      return (load * partAt(now)) / this.#size / this.#windowMs;
    };
    // Poisson thinning for a varying rate: candidates arrive at the peak rate, and a fraction of them is accepted.
    const isSteady = typeof demand.load === "number" && typeof demand.skew !== "function";
    const most = isSteady ? rateAt(0) : this.#highest(rateAt);
    if (!(most > 0)) return;
    const next = (): void => {
      this.#timeline.after(-Math.log(1 - random()) / most, () => {
        if (random() * most < rateAt(this.#timeline.now)) this.#arrive(this.#draw(agent, random));
        next();
      });
    };
    next();
  }

  #highest(rateAt: (now: number) => number): number {
    let highest = 0;
    for (let now = 0; now < this.#options.duration; now += 250) highest = Math.max(highest, rateAt(now));
    return highest;
  }

  #burst({ load, agents }: { load: number; agents?: readonly number[] | undefined }): void {
    const random = seededRandom(this.#options.seed * 31 + Math.round(this.#timeline.now));
    const to = agents ?? Array.from({ length: this.#options.agents }, (_, i) => i);
    for (let i = 0; i < load / this.#size; i++) this.#arrive(this.#draw(to[i % to.length] as number, random));
  }

  #draw(agent: number, random: () => number): Call {
    const { demand, keys } = this.#options;
    const { patienceMs, route = "any" } = demand;
    const tokens = this.#cost(random);
    const { now } = this.#timeline;
    return {
      agent,
      arrivedAt: now,
      expected: this.#amounts(tokens.expected),
      actual: this.#amounts(tokens.actual),
      tokens,
      endpoint: route === "one" ? this.#endpoints.indexOf(pick(this.#endpoints, random)) : undefined,
      key: keys && pick(keys, random).key,
      sentTo: 0,
      givesUpAt: patienceMs === undefined ? Infinity : now - Math.log(1 - random()) * patienceMs,
      sentAt: Number.NaN,
      tries: 0,
    };
  }

  #cost(random: () => number): Cost {
    const { tokens, estimate } = this.#options.demand;
    if (tokens === undefined) return { expected: 0, actual: 0 };
    const cost = drawCost(tokens, random);
    return estimate ? { expected: drawEstimate(cost.actual, estimate, random), actual: cost.actual } : cost;
  }

  /** The amounts of one call, in the limited dimensions. */
  #amounts(tokens: number): number[] {
    const { limits } = this.#options;
    return [...(limits.requests === undefined ? [] : [1]), ...(limits.tokens === undefined ? [] : [tokens])];
  }
}

function partOfDemand(
  skew: number | readonly number[] | ((agent: number, timeMs: number) => number),
  index: number,
  agents: number,
): (timeMs: number) => number {
  if (typeof skew === "function") return (timeMs) => skew(index, timeMs);
  if (typeof skew !== "number") return () => skew[index] ?? 0;
  let sum = 0;
  for (let i = 1; i <= agents; i++) sum += i ** -skew;
  const part = (index + 1) ** -skew / sum;
  return () => part;
}

/** Picks one item at random, with probability in proportion to its `part`. */
function pick<T extends { readonly part?: number | undefined }>(from: readonly T[], random: () => number): T {
  let rest = random() * from.reduce((sum, { part = 1 }) => sum + part, 0);
  for (const one of from) {
    rest -= one.part ?? 1;
    if (rest < 0) return one;
  }
  return from.at(-1) as T;
}
