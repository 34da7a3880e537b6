import { AMOUNT, isAmount } from "../amount.ts";
import { type Clock, systemClock } from "../clock.ts";
import { denied, granted } from "../diagnostics.ts";
import { InvalidWindowError } from "../errors.ts";
import { Decider } from "./decider.ts";
import { Decision } from "./decision.ts";
import { checkEndpoint, type Endpoint, Endpoints } from "./endpoints.ts";
import { HEADER_SIZE, MOST_REQUESTS, MOST_TOKENS, ON_DEMAND, VERSION } from "./layout.ts";
import { checkId, checkLimit, checkParts, checkTokens, limitWord, need, strideFlags } from "./limits.ts";
import { LocalDirectory } from "./local-directory.ts";
import { PackedCounters } from "./packed-counters.ts";
import { type RateConfig, readConfig } from "./rate-config.ts";
import type {
  EndpointConfig,
  KeyLimits,
  RateDecision,
  RateHandle,
  RateManagerOptions,
  RateRequest,
  RateSnapshot,
  RateTarget,
  SharedHandle,
} from "./rate-types.ts";
import { type Directory, KEY, type Ref } from "./record.ts";
import { joinStore, shareStore } from "./sharing.ts";
import { snapshot } from "./snapshot.ts";
import { newWindows, WindowClock } from "./window-clock.ts";

const DEFAULTS = { windowMs: 60_000, window: "fixed", maxIds: 10_000 } as const;
const MOST_SHARED_IDS = 2 ** 20;

/**
 * Decides whether an API key may send so many tokens to an endpoint now: requests and tokens in each window, for the key
 * and for the endpoint, in one step without locks, alone or together with other threads.
 */
export class RateManager {
  readonly #clock: Clock;
  readonly #mockAbove: number;
  readonly #limitsForKey: RateManagerOptions["limitsForKey"];
  readonly #isHeard: boolean;
  #counters: PackedCounters;
  #directory: Directory;
  #endpoints: Endpoints;
  #decider: Decider;
  #shared: SharedHandle | undefined;
  #version = -1;

  constructor(options: RateManagerOptions = {}) {
    const { clock = systemClock, limitsForKey, shared, diagnostics = true } = options;
    const store = shared === undefined ? undefined : joinStore(shared);
    const { windowMs = store?.windows.windowMs ?? DEFAULTS.windowMs } = options;
    const { window = store?.windows.isSliding ? "sliding" : DEFAULTS.window, mockEndpointTpmThreshold } = options;
    const isSliding = window === "sliding";
    if (!isAmount(windowMs)) throw new InvalidWindowError("windowMs", AMOUNT, windowMs);
    need(isSliding || window === "fixed", "window", '"fixed" or "sliding"', window);
    need(!store || windowMs === store.windows.windowMs, "windowMs", "absent or as in the shared handle", windowMs);
    need(!store || isSliding === store.windows.isSliding, "window", "absent or as in the shared handle", window);
    need(limitsForKey === undefined || typeof limitsForKey === "function", "limitsForKey", "a function", limitsForKey);
    checkLimit("mockEndpointTpmThreshold", mockEndpointTpmThreshold);
    need(typeof diagnostics === "boolean", "diagnostics", "true or false", diagnostics);
    this.#limitsForKey = limitsForKey;
    this.#isHeard = diagnostics;
    this.#mockAbove = mockEndpointTpmThreshold ?? Infinity;
    this.#shared = shared;
    this.#counters = store?.counters ?? new PackedCounters(new Int32Array(HEADER_SIZE), { sliding: isSliding });
    this.#directory = store?.directory ?? new LocalDirectory(this.#counters);
    this.#endpoints = new Endpoints(this.#counters, this.#directory, this);
    const windows = store?.windows ?? newWindows(clock, windowMs, isSliding);
    this.#decider = new Decider(this.#counters, new WindowClock(clock, this.#counters, windows));
    this.#clock = clock;
  }

  /** Sets or changes the limits of an endpoint, of one of its models or of a pool of them. What was counted stays. */
  setEndpoint(config: EndpointConfig): void {
    checkEndpoint(config);
    this.#setEndpoint(config);
  }

  /** Forgets a model, or an endpoint with all its models. False when it was not known. */
  removeEndpoint(id: string, model?: string): boolean {
    return this.#endpoints.remove(id, model);
  }

  /** Sets or changes the limits of a key. A key without limits is not limited by itself, only by its endpoints. */
  setKey(id: string, limits: KeyLimits): void {
    checkId("id", id);
    checkKeyLimits(limits);
    this.#setKey(id, limits, 0);
  }

  removeKey(id: string): boolean {
    return this.#directory.remove(KEY, id);
  }

  /** May this request be sent now? Counts it when it may. */
  check(request: RateRequest): RateDecision {
    const { endpoint, model, key, inputTokens, outputTokens } = request;
    const tokens = checkTokens("tokens", request.tokens);
    checkParts(inputTokens, outputTokens);
    for (;;) {
      if (this.#counters.memory[VERSION] !== this.#version) this.#refresh();
      const found = this.#endpoints.find(endpoint, model);
      const foundKey = key === undefined ? undefined : this.#findKey(key);
      this.#decider.clock.read();
      const decision = this.#decider.decide(found, foundKey, tokens, inputTokens, outputTokens);
      if (decision !== undefined) {
        if (granted.hasSubscribers || denied.hasSubscribers) this.#tell(decision, endpoint, model, tokens);
        return decision;
      }
      this.#refresh();
    }
  }

  /** What `check` would say; counts nothing. */
  peek(request: RateRequest): RateDecision {
    const { model, key, inputTokens, outputTokens } = request;
    const tokens = checkTokens("tokens", request.tokens);
    checkParts(inputTokens, outputTokens);
    if (this.#counters.memory[VERSION] !== this.#version) this.#refresh();
    const endpoint = this.#endpoints.find(request.endpoint, model);
    const found = key === undefined ? undefined : this.#findKey(key);
    this.#decider.clock.read();
    return this.#decider.explain(endpoint, found, tokens, inputTokens, outputTokens);
  }

  /** Looks the ids up once, for many decisions. Sees all changes that are made to them later. */
  handle(target: RateTarget): RateHandle {
    const { endpoint: id, model, key: keyId } = target;
    let version = -1;
    let endpoint: Endpoint;
    let key: Ref | undefined;
    const resolve = (): void => {
      this.#refresh();
      version = this.#version;
      endpoint = this.#endpoints.find(id, model);
      key = keyId === undefined ? undefined : this.#findKey(keyId);
    };
    resolve();
    return {
      check: (tokens, inputTokens, outputTokens) => {
        const whole = checkTokens("tokens", tokens);
        checkParts(inputTokens, outputTokens);
        for (;;) {
          if (this.#counters.memory[VERSION] !== version || (key === undefined && keyId !== undefined)) resolve();
          this.#decider.clock.read();
          const decision = this.#decider.decide(endpoint, key, whole, inputTokens, outputTokens);
          if (decision !== undefined) {
            if (granted.hasSubscribers || denied.hasSubscribers) this.#tell(decision, id, model, whole);
            return decision;
          }
          version = -1;
        }
      },
    };
  }

  /**
   * Corrects the estimate of a decision to what was really used, also above the limit, and ends it. Each decision is
   * settled or cancelled once; after its window only the request in flight ends.
   */
  settle(
    decision: RateDecision,
    actualTokens: number,
    actual: { inputTokens?: number | undefined; outputTokens?: number | undefined } = {},
  ): void {
    const tokens = checkTokens("actualTokens", actualTokens);
    checkParts(actual.inputTokens, actual.outputTokens);
    const charge = Decision.close(decision, this);
    if (charge) this.#decider.end(charge, 0, tokens, actual.inputTokens, actual.outputTokens);
  }

  /** Gives back all that a decision has counted: the request was never sent. */
  cancel(decision: RateDecision): void {
    const charge = Decision.close(decision, this);
    if (charge) this.#decider.end(charge, -1, 0, 0, 0);
  }

  /**
   * Takes limits as they stand in a configuration file. The endpoints (or keys) that are in it replace all others; what
   * was counted stays. Throws INVALID_CONFIG for a mistake anywhere, and then changes nothing.
   */
  loadConfig(config: RateConfig): void {
    const { endpoints, keys } = readConfig(config);
    if (endpoints) {
      const kept = new Set(endpoints.flatMap(({ id, model, models }) => (models ?? [model]).map((m) => `${id}\0${m}`)));
      this.#endpoints.each((id, model) => kept.has(`${id}\0${model}`) || this.#endpoints.remove(id, model));
      for (const endpoint of endpoints) this.#setEndpoint(endpoint);
    }
    if (keys) {
      this.#directory.each(KEY, (id) => keys.has(id) || this.#directory.remove(KEY, id));
      for (const [id, limits] of keys) this.#setKey(id, limits, 0);
    }
  }

  /**
   * Lets other threads of this process count with this manager: pass what it returns to a worker, and to `new
   * RateManager({ shared })` there. From then on endpoints, keys and limits are common, wherever they are set.
   */
  share(options: { maxIds?: number | undefined } = {}): SharedHandle {
    if (this.#shared !== undefined) return this.#shared;
    const { maxIds = DEFAULTS.maxIds } = options;
    const isCount = Number.isInteger(maxIds) && maxIds > 0 && maxIds <= MOST_SHARED_IDS;
    need(isCount, "maxIds", "a whole number from 1 to 2^20", maxIds);
    const { windows } = this.#decider.clock;
    const store = shareStore(this.#counters.memory, this.#directory as LocalDirectory, windows, maxIds);
    this.#shared = store.handle;
    this.#counters = store.counters;
    this.#directory = store.directory;
    this.#endpoints = new Endpoints(this.#counters, this.#directory, this);
    this.#decider = new Decider(this.#counters, new WindowClock(this.#clock, this.#counters, windows));
    return store.handle;
  }

  /**
   * What was counted in this window: for people, and for a store that adds it up with others'. `keys: false` leaves out the
   * keys, of which there may be a million to look through.
   */
  snapshot(options: { keys?: boolean | undefined } = {}): RateSnapshot {
    this.#decider.clock.load();
    this.#decider.clock.read();
    return snapshot(this.#counters, this.#directory, this.#endpoints, this.#decider.clock, options.keys ?? true);
  }

  /**
   * Moves the edges of the windows to those of a clock that others share, which now shows `epochMs`. Takes effect at that
   * clock's next edge; until then the present window goes on. For all threads.
   */
  rephase(epochMs: number): void {
    this.#decider.clock.rephase(epochMs);
  }

  /** Something has changed that concerns all: endpoints, or where the windows are. */
  #refresh(): void {
    this.#version = Atomics.load(this.#counters.memory, VERSION);
    this.#endpoints.forget();
    this.#decider.clock.load();
  }

  #tell({ allowed, limitedBy, reason }: RateDecision, resource: string, model: string | undefined, cost: number): void {
    if (!this.#isHeard) return;
    // A model without limits of its own may have any name.
    const of = model !== undefined && this.#endpoints.has(resource, model) ? { model } : {};
    const what = { source: "rate-manager", resource, ...of, cost } as const;
    if (allowed) granted.publish(what);
    else
      denied.publish({ ...what, reason: reason === undefined || reason === "rate" ? "no-tokens" : reason, limitedBy });
  }

  #findKey(id: string): Ref | undefined {
    return this.#directory.find(KEY, id) ?? this.#makeKey(id);
  }

  #makeKey(id: string): Ref | undefined {
    const limits = this.#limitsForKey?.(id);
    if (limits === undefined) return undefined;
    checkId("key", id);
    checkKeyLimits(limits);
    return this.#setKey(id, limits, ON_DEMAND);
  }

  #setKey(id: string, limits: KeyLimits, flags: number): Ref {
    const requestLimit = limitWord(limits.rateLimitRpm, MOST_REQUESTS);
    const tokenLimit = limitWord(limits.rateLimitTpm, MOST_TOKENS);
    const settings = [
      requestLimit,
      tokenLimit,
      -1,
      flags | strideFlags(limits.rateLimitRpm, limits.rateLimitTpm),
    ] as const;
    this.#decider.clock.read();
    return this.#directory.set(KEY, id, settings, this.#decider.clock.window);
  }

  #setEndpoint(config: EndpointConfig): void {
    this.#decider.clock.read();
    this.#endpoints.set(config, (config.tpmLimit ?? 0) > this.#mockAbove, this.#decider.clock.window);
  }
}

function checkKeyLimits(limits: KeyLimits): void {
  checkLimit("rateLimitRpm", limits.rateLimitRpm);
  checkLimit("rateLimitTpm", limits.rateLimitTpm);
}
