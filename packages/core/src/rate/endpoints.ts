import { ResourceUnknownError } from "../errors.ts";
import { checkKnown } from "../known-options.ts";
import { need } from "../need.ts";
import { show } from "../show.ts";
import {
  FLAGS,
  IN_FLIGHT_LIMIT,
  MOST_REQUESTS,
  MOST_TOKENS,
  POOLED,
  REQUEST_LIMIT,
  VERSION,
  WITH_SPLIT,
} from "./layout.ts";
import { checkId, checkLimit, limitWord, strideFlags } from "./limits.ts";
import { ENDPOINT_OPTIONS } from "./option-names.ts";
import type { PackedCounters } from "./packed-counters.ts";
import type { EndpointConfig } from "./rate-types.ts";
import { type Directory, ENDPOINT, type Ref } from "./record.ts";

/** The records in which the requests for an endpoint and model are counted. */
export class Endpoint {
  readonly ref: Ref;
  /** The record of its input and output tokens, if they are limited. */
  readonly split: Ref | undefined;
  /** Whether only requests and tokens are limited. */
  readonly isPlain: boolean;
  /** The manager that owns these records. */
  readonly owner: object;

  constructor(ref: Ref, split: Ref | undefined, isPlain: boolean, owner: object) {
    this.ref = ref;
    this.split = split;
    this.isPlain = isPlain;
    this.owner = owner;
  }
}

/**
 * Maximum number of cached endpoints, and of cached models per endpoint. Beyond it the cache is cleared and refilled by
 * look-ups.
 */
const MOST_KNOWN = 10_000;

/**
 * Sets endpoints and looks them up. Look-ups are cached until `forget`. Record names are joined by NULs: `id, model`
 * for an endpoint (the model is empty without one), `id, "", number` for a pool of models, and one more `split` for the
 * record of input and output tokens.
 */
export class Endpoints {
  readonly #counters: PackedCounters;
  readonly #directory: Directory;
  readonly #owner: object;
  readonly #whole = new Map<string, Endpoint>();
  readonly #models = new Map<string, Map<string, Endpoint>>();

  constructor(counters: PackedCounters, directory: Directory, owner: object) {
    this.#counters = counters;
    this.#directory = directory;
    this.#owner = owner;
  }

  find(id: string, model: string | undefined): Endpoint {
    const known = model === undefined ? this.#whole.get(id) : this.#models.get(id)?.get(model);
    return known ?? this.#resolve(id, model);
  }

  /** Returns whether a model has limits of its own or draws from a pool. */
  has(id: string, model: string): boolean {
    return this.#directory.find(ENDPOINT, nameOf(id, model)) !== undefined;
  }

  forget(): void {
    this.#whole.clear();
    this.#models.clear();
  }

  set(config: EndpointConfig, isMock: boolean, window: number): void {
    const { id, models } = config;
    const { rpmLimit, tpmLimit, inputTpmLimit, outputTpmLimit, maxInFlightPerProcess } = isMock
      ? ({} as EndpointConfig)
      : config;
    const set = (name: string, requests: number, tokens: number, inFlight: number, flags: number): Ref =>
      this.#directory.set(ENDPOINT, name, [requests, tokens, inFlight, flags], window);
    const version = Atomics.add(this.#counters.memory, VERSION, 1);
    const left = this.#poolsOf(id, models ?? [config.model]);
    let name = nameOf(id, config.model);
    let pool = 0;
    if (models) {
      // A pool that is set again is found by its first model and keeps its counts.
      const first = this.#directory.find(ENDPOINT, nameOf(id, models[0]));
      pool = (first && this.#poolOf(first)) || version + 1;
      name = poolName(id, pool);
    }
    // Sets the counters first and the names that lead to them last, so that another thread finds either all records or
    // none.
    const isSplit = inputTpmLimit !== undefined || outputTpmLimit !== undefined;
    const splitName = name + SPLIT;
    if (isSplit) {
      const [output, input] = [limitWord(outputTpmLimit, MOST_REQUESTS), limitWord(inputTpmLimit, MOST_TOKENS)];
      set(splitName, output, input, -1, strideFlags(outputTpmLimit, inputTpmLimit));
    }
    const inFlightLimit = maxInFlightPerProcess === undefined ? -1 : limitWord(maxInFlightPerProcess, MOST_REQUESTS);
    const flags = (isSplit ? WITH_SPLIT : 0) | strideFlags(rpmLimit, tpmLimit);
    set(name, limitWord(rpmLimit, MOST_REQUESTS), limitWord(tpmLimit, MOST_TOKENS), inFlightLimit, flags);
    for (const model of models ?? []) set(nameOf(id, model), pool, 0, -1, POOLED);
    if (!isSplit) this.#directory.remove(ENDPOINT, splitName);
    this.#dropUnused(id, left);
    Atomics.add(this.#counters.memory, VERSION, 1);
  }

  /** Removes one model, or the endpoint with all its models and pools. */
  remove(id: string, model: string | undefined): boolean {
    const gone: string[] = [];
    const left = this.#poolsOf(id, [model]);
    if (model !== undefined) gone.push(nameOf(id, model));
    else this.#directory.each(ENDPOINT, (name) => name.startsWith(nameOf(id, "")) && gone.push(name));
    const removed = gone.filter((name) => this.#directory.remove(ENDPOINT, name));
    if (model !== undefined) this.#directory.remove(ENDPOINT, nameOf(id, model) + SPLIT);
    this.#dropUnused(id, left);
    Atomics.add(this.#counters.memory, VERSION, 1);
    return removed.length > 0;
  }

  /** Returns the numbers of the pools from which these models draw. */
  #poolsOf(id: string, models: readonly (string | undefined)[]): number[] {
    return models.flatMap((model) => {
      const ref = model === undefined ? undefined : this.#directory.find(ENDPOINT, nameOf(id, model));
      return (ref && this.#poolOf(ref)) || [];
    });
  }

  /** Removes the records of pools from which no model draws any more. */
  #dropUnused(id: string, pools: readonly number[]): void {
    if (pools.length === 0) return;
    const used = new Set<number>();
    this.#directory.each(ENDPOINT, (name, ref) => name.startsWith(nameOf(id, "")) && used.add(this.#poolOf(ref)));
    for (const pool of new Set(pools)) {
      if (used.has(pool)) continue;
      this.#directory.remove(ENDPOINT, poolName(id, pool));
      this.#directory.remove(ENDPOINT, poolName(id, pool) + SPLIT);
    }
  }

  each(visit: (id: string, model: string | undefined, endpoint: Endpoint, pool: number) => void): void {
    this.#directory.each(ENDPOINT, (name, ref) => {
      const [id, model, ...more] = name.split("\0") as [string, string];
      const endpoint = this.#lookUp(id, name);
      if (more.length === 0 && endpoint) visit(id, model || undefined, endpoint, this.#poolOf(ref));
    });
  }

  #resolve(id: string, model: string | undefined): Endpoint {
    const endpoint =
      (model === undefined ? undefined : this.#lookUp(id, nameOf(id, model))) ??
      this.#lookUp(id, nameOf(id, undefined));
    if (endpoint === undefined)
      throw new ResourceUnknownError(
        id,
        model === undefined ? "endpoint" : `model ${show(model)} of endpoint`,
        undefined,
        "add it with setEndpoint()",
      );
    if (this.#whole.size + this.#models.size > MOST_KNOWN) this.forget();
    if (model === undefined) this.#whole.set(id, endpoint);
    else {
      const models = this.#models.get(id);
      if (models === undefined || models.size > MOST_KNOWN) this.#models.set(id, new Map([[model, endpoint]]));
      else models.set(model, endpoint);
    }
    return endpoint;
  }

  #lookUp(id: string, name: string): Endpoint | undefined {
    const ref = this.#directory.find(ENDPOINT, name);
    if (ref === undefined) return undefined;
    const pool = this.#poolOf(ref);
    if (pool > 0) return this.#lookUp(id, poolName(id, pool));
    const { memory } = this.#counters;
    const isSplit = ((memory[ref.slot + FLAGS] as number) & WITH_SPLIT) !== 0;
    const isPlain = !isSplit && memory[ref.slot + IN_FLIGHT_LIMIT] === -1;
    return new Endpoint(ref, isSplit ? this.#directory.find(ENDPOINT, name + SPLIT) : undefined, isPlain, this.#owner);
  }

  /** Returns the number of the pool from which a model draws; 0 if the model has its own limits. */
  #poolOf({ slot }: Ref): number {
    const { memory } = this.#counters;
    return (memory[slot + FLAGS] as number) & POOLED ? (memory[slot + REQUEST_LIMIT] as number) : 0;
  }
}

const SPLIT = "\0split";
const nameOf = (id: string, model: string | undefined): string => `${id}\0${model ?? ""}`;
const poolName = (id: string, pool: number): string => `${id}\0\0${pool}`;

/** Checks an endpoint; throws INVALID_CONFIG. `at` is the path of the endpoint in a larger configuration. */
export function checkEndpoint(config: EndpointConfig, at = ""): void {
  checkKnown(config, ENDPOINT_OPTIONS, at);
  const { id, model, models } = config;
  checkId(`${at}id`, id);
  if (model !== undefined) checkId(`${at}model`, model);
  const isList = models === undefined || (Array.isArray(models) && models.length > 0 && model === undefined);
  need(isList, `${at}models`, "a list of one or more, without a model beside it", models);
  for (const [i, of] of models?.entries() ?? []) checkId(`${at}models[${i}]`, of);
  for (const limit of LIMITS) checkLimit(at + limit, config[limit]);
}

const LIMITS = ["rpmLimit", "tpmLimit", "inputTpmLimit", "outputTpmLimit", "maxInFlightPerProcess"] as const;
