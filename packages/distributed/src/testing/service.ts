import { seededRandom } from "@hivepace/core/testing";
import { type Amounts, addTo, at, zeros } from "../engine/index.ts";
import { Allowance } from "./allowance.ts";
import { type Endpoint, endpointsOf } from "./endpoints.ts";
import { amountsOf, type KeyOptions, type SimulationOptions } from "./options.ts";
import { Provider } from "./provider.ts";
import { Recorder } from "./recorder.ts";
import type { PartFigures } from "./report.ts";
import type { Answer, Call } from "./world.ts";

interface Served {
  readonly endpoint: Endpoint;
  readonly provider: Provider;
  readonly allowance: Allowance;
  readonly recorder: Recorder;
}

export interface ServiceOptions {
  readonly options: SimulationOptions;
  readonly windowMs: number;
  readonly weights: readonly number[];
  /** Figures count from this time on. */
  readonly from: number;
}

/** All endpoints with their providers, and the records of the calls sent to them. */
export class Service {
  readonly endpoints: readonly Endpoint[];
  /** The sum of the limits of all endpoints. */
  readonly limits: Amounts;
  readonly recorder: Recorder;
  readonly #allowance = new Allowance();
  readonly #served: readonly Served[];
  readonly #keys: ReadonlyMap<string, Recorder>;
  /** A single endpoint needs no recorder of its own beside that of the whole service. */
  readonly #isOne: boolean;

  constructor({ options, windowMs, weights, from }: ServiceOptions) {
    this.endpoints = endpointsOf(options);
    const limits = zeros(amountsOf(options.limits).length);
    for (const { amounts } of this.endpoints) addTo(limits, amounts);
    this.limits = limits;
    this.recorder = new Recorder(limits, windowMs, weights, from, this.#allowance);
    this.#isOne = this.endpoints.length === 1;
    this.#served = this.endpoints.map((endpoint, i): Served => {
      const allowance = this.#isOne ? this.#allowance : new Allowance();
      return {
        endpoint,
        allowance,
        provider: new Provider(endpoint.provider, endpoint.limits, windowMs, seededRandom(options.seed * 977 + i)),
        recorder: this.#isOne ? this.recorder : new Recorder(endpoint.amounts, windowMs, weights, from, allowance),
      };
    });
    this.#keys = new Map(
      options.keys?.map((one) => [
        one.key,
        new Recorder(keyAmounts(one, options, limits), windowMs, weights, from, new Allowance()),
      ]),
    );
  }

  provider(index: number): Provider {
    return this.#serving(index).provider;
  }

  /** Records the outcome of a call. */
  sent(call: Call, { outcome }: Answer, stillWaiting: boolean): void {
    this.recorder.sent(call, outcome, stillWaiting);
    if (!this.#isOne) this.#serving(call.sentTo).recorder.sent(call, outcome, false);
    if (call.key !== undefined) this.#keys.get(call.key)?.sent(call, outcome, false);
  }

  /** Reduces the limits of all providers, or of the given endpoints, to this fraction. */
  setFactor(factor: number, now: number, ids: readonly string[] | undefined): void {
    for (const { endpoint, provider, allowance } of this.#served) {
      if (ids && !ids.includes(endpoint.id)) continue;
      provider.setFactor(factor);
      allowance.set(now, factor);
    }
    if (!this.#isOne) this.#allowance.set(now, this.#meanPart());
  }

  /** Changes the limits of the first endpoint. */
  setLimits(limits: Amounts, now: number): void {
    const { provider, endpoint, allowance } = this.#serving(0);
    provider.setLimits(limits);
    allowance.set(now, Math.min(...limits.map((limit, i) => limit / at(endpoint.amounts, i))));
  }

  endpointFigures(durationMs: number): Record<string, PartFigures> {
    return Object.fromEntries(this.#served.map(({ endpoint, recorder }) => [endpoint.id, recorder.part(durationMs)]));
  }

  keyFigures(durationMs: number): Record<string, PartFigures> {
    return Object.fromEntries([...this.#keys].map(([key, recorder]) => [key, recorder.part(durationMs)]));
  }

  #meanPart(): number {
    const size = ({ endpoint }: Served): number => at(endpoint.amounts, 0) / at(this.limits, 0);
    return this.#served.reduce((sum, served) => sum + size(served) * served.allowance.part, 0);
  }

  #serving(index: number): Served {
    return this.#served[index] as Served;
  }
}

/**
 * The limits of a key in the dimensions of the simulation. A dimension without a limit of the key has the total of all
 * endpoints.
 */
function keyAmounts({ limits: own = {} }: KeyOptions, { limits }: SimulationOptions, all: Amounts): number[] {
  const kinds = (["requests", "tokens"] as const).filter((kind) => limits[kind] !== undefined);
  return kinds.map((kind, i) => own[kind] ?? at(all, i));
}
