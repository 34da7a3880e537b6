import type { EndpointConfig, KeyLimits, RateConfig, RateTarget } from "@hivepace/core";
import { type Counted, endpointLimits, keyLimits, type Limits, nameOf, strideOf } from "./model.ts";

/** The limits of keys that are not configured. */
export const ON_DEMAND: KeyLimits = { rpmLimit: 3 };

/**
 * The endpoints and keys of the model. A record that is set again continues its counts, even after a removal, which
 * forgets only its requests in flight.
 */
export class Directory {
  readonly #mockAbove: number;
  readonly #endpoints = new Map<string, Counted>();
  readonly #keys = new Map<string, Counted>();
  readonly #removed = new Map<string, Counted>();

  constructor(mockAbove: number) {
    this.#mockAbove = mockAbove;
  }

  /** The record for a target; undefined when the manager must report an unknown endpoint. */
  endpoint({ endpoint, model }: RateTarget): Counted | undefined {
    const ofModel = model === undefined ? undefined : this.#endpoints.get(nameOf({ id: endpoint, model }));
    return ofModel ?? this.#endpoints.get(endpoint);
  }

  key(id: string | undefined): Counted | undefined {
    if (id === undefined) return undefined;
    if (!this.#keys.has(id) && id === "demand") this.setKey(id, ON_DEMAND, 0);
    return this.#keys.get(id);
  }

  get endpoints(): ReadonlyMap<string, Counted> {
    return this.#endpoints;
  }

  setEndpoint(config: EndpointConfig, window: number): void {
    const { id, model, models } = config;
    const limits = endpointLimits(config, this.#mockAbove);
    if (!models) return void this.#set(this.#endpoints, nameOf({ id, model }), limits, window);
    // A quota that is set again is found by its first model, if that model is in a quota.
    const first = this.#endpoints.get(nameOf({ id, model: models[0] }));
    const shared = first && this.#quotas.has(first) ? this.#changed(first, limits, window) : this.#new(limits);
    this.#quotas.add(shared);
    for (const each of models) {
      const name = nameOf({ id, model: each });
      const own = this.#endpoints.get(name);
      // Keeps the counts of the model's own limits, in case the model gets its own limits again.
      if (own && !this.#quotas.has(own)) this.#removed.set(name, own);
      this.#endpoints.set(name, shared);
    }
  }

  readonly #quotas = new Set<Counted>();

  removeEndpoint(id: string, model: string | undefined): boolean {
    const isMeant = (name: string) =>
      model === undefined ? name.split("/")[0] === id : name === nameOf({ id, model });
    const gone = [...this.#endpoints.keys()].filter(isMeant);
    for (const name of gone) this.#remove(this.#endpoints, name);
    return gone.length > 0;
  }

  setKey(id: string, limits: KeyLimits, window: number): void {
    this.#set(this.#keys, id, keyLimits(limits), window);
  }

  removeKey(id: string): boolean {
    return this.#remove(this.#keys, id);
  }

  load({ endpoints, keys }: RateConfig, window: number): void {
    if (endpoints) {
      const kept = endpoints.flatMap(({ id, model, models }) =>
        (models ?? [model]).map((each) => nameOf({ id, model: each })),
      );
      for (const name of this.#endpoints.keys()) if (!kept.includes(name)) this.#remove(this.#endpoints, name);
      for (const endpoint of endpoints) this.setEndpoint(endpoint as EndpointConfig, window);
    }
    if (keys) {
      for (const id of this.#keys.keys()) if (!(id in keys)) this.#remove(this.#keys, id);
      for (const [id, limits] of Object.entries(keys)) this.setKey(id, limits as KeyLimits, window);
    }
  }

  #set(records: Map<string, Counted>, name: string, limits: Limits, window: number): void {
    const present = records.get(name);
    const known = present && !this.#quotas.has(present) ? present : this.#removed.get(this.#nameIn(records, name));
    records.set(name, known ? this.#changed(known, limits, window) : this.#new(limits));
  }

  #remove(records: Map<string, Counted>, name: string): boolean {
    const counted = records.get(name);
    if (!counted) return false;
    records.delete(name);
    if (this.#quotas.has(counted)) return true;
    for (const charge of counted.charges) charge.isInFlight = false;
    this.#removed.set(this.#nameIn(records, name), counted);
    return true;
  }

  #nameIn(records: Map<string, Counted>, name: string): string {
    return records === this.#keys ? `key ${name}` : name;
  }

  #new(limits: Limits): Counted {
    return { limits, charges: [], unsureUntil: 0 };
  }

  #changed(counted: Counted, limits: Limits, window: number): Counted {
    const strides = (["tokens", "inputTokens"] as const).map((side) => [
      strideOf(counted.limits, side),
      strideOf(limits, side),
    ]);
    const isOther = strides.some(([before, after]) => before !== after);
    if (isOther) counted.unsureUntil = window + 2 * Math.max(...strides.flat());
    counted.limits = limits;
    return counted;
  }
}
