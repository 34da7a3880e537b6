import type { Endpoint } from "./endpoints.ts";
import { need } from "./limits.ts";
import type { LimitedBy, RateDecision } from "./rate-types.ts";
import type { Ref } from "./record.ts";

/** What an endpoint that limits more than requests and tokens has counted for a decision. */
export interface Extra {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The life of the record in which it is in flight; -1 if nobody counts that. */
  readonly life: number;
  /** How full what it counted into is, 0..1. */
  readonly utilization: number;
}

/** What was counted for a decision, and where, so that it can be corrected. */
export interface Charge {
  readonly endpoint: Endpoint;
  readonly key: Ref | undefined;
  readonly window: number;
  readonly tokens: number;
  readonly extra: Extra | undefined;
}

/**
 * A decision, always of one shape. What settling needs is in it, out of sight, so that a decision is one object.
 * The fields are only declared: defined, each would first be set to undefined, and decisions cost a third more.
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
   * To be called before the first decision is made. V8 puts the fractions of a field that has only ever held numbers into
   * a box for each object: that of `windowStart`, and both limits once one was Infinity. Where it has seen something else
   * it stores what it is given, and all decisions of a window have one box.
   */
  static prepare(): void {
    const none = undefined as never;
    new Decision(none, none, none, none, none, none, none, none, none, none, none, 0, 0, none);
  }

  /** What this decision has counted; only the first time, and only if it has. */
  static close(decision: RateDecision, owner: object): Charge | undefined {
    const isOurs = decision instanceof Decision && (decision.#endpoint?.owner ?? owner) === owner;
    need(isOurs, "decision", "one that this manager made, not a copy", decision);
    const it = decision as Decision;
    const endpoint = it.#endpoint;
    it.#endpoint = undefined;
    return endpoint && { endpoint, key: it.#key, window: it.#window, tokens: it.#tokens, extra: it.#extra };
  }
}
