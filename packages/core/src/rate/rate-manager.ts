import { AMOUNT, isAmount } from "../amount.ts";
import { type Clock, systemClock } from "../clock.ts";
import { denied, granted } from "../diagnostics.ts";
import { InvalidWindowError } from "../errors.ts";
import { checkKnown } from "../known-options.ts";
import { need } from "../need.ts";
import { Decider } from "./decider.ts";
import { Decision } from "./decision.ts";
import { checkEndpoint, type Endpoint, Endpoints } from "./endpoints.ts";
import { HEADER_SIZE, MOST_REQUESTS, MOST_TOKENS, ON_DEMAND, VERSION } from "./layout.ts";
import { checkId, checkLimit, checkParts, checkTokens, limitWord, strideFlags } from "./limits.ts";
import { LocalDirectory } from "./local-directory.ts";
import { KEY_OPTIONS, MANAGER_OPTIONS } from "./option-names.ts";
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
 * Decides whether a request of an API key may be sent to an endpoint now. The requests and tokens of each window are
 * counted for the key and for the endpoint, in one step without locks, alone or together with other threads.
 *
 * @example
 * ```ts
 * import { RateManager } from "@hivepace/core";
 *
 * const manager = new RateManager();
 * manager.setEndpoint({ id: "eu", rpmLimit: 60, tpmLimit: 100_000 });
 * const decision = manager.check({ endpoint: "eu", tokens: 1_200 });
 * if (decision.allowed) manager.settle(decision, 950);
 * ```
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
    checkKnown(options, MANAGER_OPTIONS);
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

  /**
   * Sets or changes the limits of an endpoint, of one of its models or of a pool of models. Present counts are kept.
   *
   * @throws INVALID_CONFIG, and TABLE_FULL when shared memory has no free record
   */
  setEndpoint(config: EndpointConfig): void {
    checkEndpoint(config);
    this.#setEndpoint(config);
  }

  /** Forgets a model, or an endpoint with all its models. Returns false when it was not known. */
  removeEndpoint(id: string, model?: string): boolean {
    return this.#endpoints.remove(id, model);
  }

  /**
   * Sets or changes the limits of a key. A key without limits is limited only by its endpoints.
   *
   * @throws INVALID_CONFIG, and TABLE_FULL when shared memory has no free record
   */
  setKey(id: string, limits: KeyLimits): void {
    checkId("id", id);
    checkKeyLimits(limits);
    this.#setKey(id, limits, 0);
  }

  /** Forgets a key. Returns false when it was not known. */
  removeKey(id: string): boolean {
    return this.#directory.remove(KEY, id);
  }

  /**
   * Decides whether a request may be sent now, and counts it if it may.
   *
   * @throws RESOURCE_UNKNOWN for an unknown endpoint, INVALID_CONFIG for invalid tokens
   */
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
        if (granted.hasSubscribers || denied.hasSubscribers) this.#publish(decision, endpoint, model, tokens);
        return decision;
      }
      this.#refresh();
    }
  }

  /**
   * Returns the decision that `check` would make, without counting the request.
   *
   * @throws RESOURCE_UNKNOWN for an unknown endpoint, INVALID_CONFIG for invalid tokens
   */
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

  /**
   * Looks up the ids once, for many decisions. The handle follows all later changes of their limits.
   *
   * @throws RESOURCE_UNKNOWN for an unknown endpoint
   */
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
            if (granted.hasSubscribers || denied.hasSubscribers) this.#publish(decision, id, model, whole);
            return decision;
          }
          version = -1;
        }
      },
    };
  }

  /**
   * Corrects the estimate of a decision to the actual usage, also above the limit, and ends the request. A decision is
   * settled or cancelled once; after its window only the request in flight ends.
   *
   * @throws INVALID_CONFIG for invalid tokens, or a decision of another manager
   */
  settle(
    decision: RateDecision,
    actualTokens: number,
    actual: { inputTokens?: number | undefined; outputTokens?: number | undefined } = {},
  ): void {
    const tokens = checkTokens("actualTokens", actualTokens);
    checkParts(actual.inputTokens, actual.outputTokens);
    const charge = Decision.close(decision, this);
    // An accurate estimate of a plain request needs no correction.
    if (charge && (charge.extra || charge.tokens !== tokens))
      this.#decider.end(charge, 0, tokens, actual.inputTokens, actual.outputTokens);
  }

  /**
   * Returns everything that a decision has counted: for requests that were never sent.
   *
   * @throws INVALID_CONFIG for a decision of another manager
   */
  cancel(decision: RateDecision): void {
    const charge = Decision.close(decision, this);
    if (charge) this.#decider.end(charge, -1, 0, 0, 0);
  }

  /**
   * Applies the limits of a configuration file. The endpoints (or keys) in the file replace all others; present counts
   * are kept.
   *
   * @throws INVALID_CONFIG for a mistake anywhere in the file; then nothing is changed
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
   * Returns a handle with which other threads of this process count together with this manager: pass the handle to a
   * worker, and there to `new RateManager({ shared })`. From then on all threads share endpoints, keys and limits,
   * wherever they are set. Shared memory has a fixed size: room for `maxIds` endpoints and keys, by default 10,000.
   *
   * @throws INVALID_CONFIG, or SHARING_UNAVAILABLE where shared memory is not available
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
   * Returns the counts of the present window, for display and for a store that adds up several managers. `keys: false`
   * omits the keys, of which there may be a million.
   */
  snapshot(options: { keys?: boolean | undefined } = {}): RateSnapshot {
    this.#decider.clock.load();
    this.#decider.clock.read();
    return snapshot(this.#counters, this.#directory, this.#endpoints, this.#decider.clock, options.keys ?? true);
  }

  /**
   * Aligns the windows with a clock that other processes share and that now shows `epochMs`. The alignment takes effect
   * at that clock's next window edge, for all threads; until then the present window continues.
   */
  rephase(epochMs: number): void {
    this.#decider.clock.rephase(epochMs);
  }

  /** Rereads the state that concerns all decisions: endpoints, and the position of the windows. */
  #refresh(): void {
    this.#version = Atomics.load(this.#counters.memory, VERSION);
    this.#endpoints.forget();
    this.#decider.clock.load();
  }

  #publish(
    { allowed, limitedBy, reason }: RateDecision,
    resource: string,
    model: string | undefined,
    cost: number,
  ): void {
    if (!this.#isHeard) return;
    // A model without limits of its own may have any name, so the event leaves it out.
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
    const requestLimit = limitWord(limits.rpmLimit, MOST_REQUESTS);
    const tokenLimit = limitWord(limits.tpmLimit, MOST_TOKENS);
    const settings = [requestLimit, tokenLimit, -1, flags | strideFlags(limits.rpmLimit, limits.tpmLimit)] as const;
    this.#decider.clock.read();
    return this.#directory.set(KEY, id, settings, this.#decider.clock.window);
  }

  #setEndpoint(config: EndpointConfig): void {
    this.#decider.clock.read();
    this.#endpoints.set(config, (config.tpmLimit ?? 0) > this.#mockAbove, this.#decider.clock.window);
  }
}

function checkKeyLimits(limits: KeyLimits): void {
  checkKnown(limits, KEY_OPTIONS);
  checkLimit("rpmLimit", limits.rpmLimit);
  checkLimit("tpmLimit", limits.tpmLimit);
}
