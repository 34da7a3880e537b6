import { need } from "../need.ts";
import type { Endpoint } from "./endpoints.ts";
import type { LimitedBy, RateDecision } from "./rate-types.ts";
import type { Ref } from "./record.ts";

/** The charge of a decision on an endpoint that limits more than requests and tokens. */
export interface Extra {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The generation for which the request in flight was counted; -1 if requests in flight are not counted. */
  readonly generation: number;
  /** Utilization of these additional limits, 0 to 1. */
  readonly utilization: number;
}

/** The charge of a decision, with the records that it was counted in, so that it can be corrected. */
export interface Charge {
  readonly endpoint: Endpoint;
  readonly key: Ref | undefined;
  readonly window: number;
  readonly tokens: number;
  readonly extra: Extra | undefined;
}

/**
 * A decision; all decisions have the same shape. The data that settling needs is in private fields, so that a decision
 * is a single object. The public fields are only declared: a definition would first set each to undefined and make
 * decisions a third more expensive.
 */
export class Decision implements RateDecision {
  declare readonly allowed: boolean;
  declare readonly currentTpm: number;
  declare readonly limitTpm: number;
  declare readonly currentRpm: number;
  declare readonly limitRpm: number;
  declare readonly utilization: number;
  declare readonly windowStart: number;
  declare readonly retryAfterMs: number | undefined;
  declare readonly limitedBy: LimitedBy | undefined;
  declare readonly reason: RateDecision["reason"];
  #endpoint: Endpoint | undefined;
  readonly #key: Ref | undefined;
  readonly #window: number;
  readonly #tokens: number;
  readonly #extra: Extra | undefined;

  constructor(
    currentTpm: number,
    limitTpm: number,
    currentRpm: number,
    limitRpm: number,
    utilization: number,
    windowStart: number,
    retryAfterMs: number | undefined,
    limitedBy: LimitedBy | undefined,
    reason: RateDecision["reason"],
    endpoint: Endpoint | undefined,
    key: Ref | undefined,
    window: number,
    tokens: number,
    extra: Extra | undefined,
  ) {
    this.allowed = reason === undefined;
    this.currentTpm = currentTpm;
    this.limitTpm = limitTpm;
    this.currentRpm = currentRpm;
    this.limitRpm = limitRpm;
    this.utilization = utilization;
    this.windowStart = windowStart;
    this.retryAfterMs = retryAfterMs;
    this.limitedBy = limitedBy;
    this.reason = reason;
    this.#endpoint = endpoint;
    this.#key = key;
    this.#window = window;
    this.#tokens = tokens;
    this.#extra = extra;
  }

  /**
   * Must be called before the first decision is made. V8 allocates a box for the fraction of a field that has only ever
   * held numbers, one for each object: for `windowStart`, and for both limits once one was Infinity. A field that has
   * held another type stores the given value, so that all decisions of a window share one box.
   */
  static prepare(): void {
    const none = undefined as never;
    new Decision(none, none, none, none, none, none, none, none, none, none, none, 0, 0, none);
  }

  /**
   * Returns the charge of a decision at the first call; undefined at later calls and for decisions without a charge.
   */
  static close(decision: RateDecision, owner: object): Charge | undefined {
    const isOurs = decision instanceof Decision && (decision.#endpoint?.owner ?? owner) === owner;
    need(isOurs, "decision", "one that this manager made, not a copy", decision);
    const it = decision as Decision;
    const endpoint = it.#endpoint;
    it.#endpoint = undefined;
    return endpoint && { endpoint, key: it.#key, window: it.#window, tokens: it.#tokens, extra: it.#extra };
  }
}
