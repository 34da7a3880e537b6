import { type Clock, type GateRoute, InvalidConfigError, systemClock } from "@hivepace/core";
import { AMOUNT, checkKnown, isAmount, need, type OptionNames } from "@hivepace/core/internal";
import type { CallFacts } from "./call/call-facts.ts";
import { type CallEvent, CallEvents } from "./pacing/call-events.ts";
import type { Fallback } from "./pacing/fallback.ts";
import type { PacerSettings } from "./pacing/pacer.ts";
import { UNKNOWN_POLICIES, type UnknownPolicy } from "./pacing/unknown-endpoint.ts";
import { type TokenEstimate, TokenEstimator } from "./usage/token-estimator.ts";

/** The facts about a request that are known before it is sent. */
export interface CallInfo extends CallFacts {
  readonly url: string;
  readonly method: string;
  readonly provider: string;
}

/** An endpoint to which requests can go. */
export interface FetchEndpoint {
  /** The id of the endpoint at the gate. */
  readonly id: string;
  /**
   * The provider whose rules apply: "openai", "anthropic", "azure", ….
   *
   * @defaultValue by the host of `baseURL`
   */
  readonly provider?: string | undefined;
  /** The base URL as the SDK takes it. Requests of the same protocol can move to an endpoint that has one. */
  readonly baseURL?: string | undefined;
  /**
   * The key of requests that move to this endpoint. Without it, a request that moves to another host carries no
   * credentials.
   */
  readonly apiKey?: string | (() => string | Promise<string>) | undefined;
}

/** Options that the fetch, the middleware and the interceptor share. */
export interface PacingOptions {
  /**
   * The endpoint of a request, a route of several endpoints (`[["a", "b"], ["c"]]` has tiers), or a function that returns one of these. A function that
   * returns undefined lets the request pass without a limit.
   *
   * @defaultValue the endpoint whose `baseURL` the request has, else the provider's name ("openai", "anthropic",
   * "gemini", …), else the host
   */
  endpoint?: string | GateRoute | ((call: CallInfo) => string | GateRoute | undefined) | undefined;
  /** The tenant key of the call, for limits per tenant. */
  key?: string | ((call: CallInfo) => string | undefined) | undefined;
  /** Session affinity: calls of one session stay on one endpoint while it has capacity. */
  session?: string | ((call: CallInfo) => string | undefined) | undefined;
  /** Calls of a higher priority are granted first under contention. */
  priority?: number | ((call: CallInfo) => number | undefined) | undefined;
  /**
   * Maps a call to the name that its model has at the gate.
   *
   * @defaultValue the name in the request
   */
  model?: ((call: CallInfo) => string | undefined) | undefined;
  /**
   * Estimates the tokens of a call.
   *
   * @defaultValue learned from the usage that the provider reports
   */
  estimate?: ((call: CallInfo) => number | Partial<TokenEstimate> | undefined) | undefined;
  /**
   * The fate of calls to an endpoint or model that the gate does not know: "pass" sends them without a limit, "limit" counts
   * them against the gate's only endpoint (of several, the first), "reject" answers them with status 400.
   *
   * @defaultValue "limit" where the gate has one endpoint; else "pass", with a warning that names the missing configuration
   */
  unknown?: UnknownPolicy | undefined;
  /**
   * Receives every wait, sending, refusal, retry and move of a call. Must not block; an error that it throws is
   * reported once as the warning HIVEPACE_LISTENER_FAILED.
   */
  onEvent?: ((event: CallEvent) => void) | undefined;
  /**
   * Upper bound of all waits of a call together, in milliseconds. Keep it below the SDK's own timeout.
   *
   * @defaultValue 300,000
   */
  timeoutMs?: number | undefined;
  /**
   * Number of times that a refused request is sent again.
   *
   * @defaultValue 4
   */
  maxRetries?: number | undefined;
  /**
   * Backoff before the first retry when the provider names no wait, in milliseconds. It doubles with each retry.
   *
   * @defaultValue 500
   */
  baseDelayMs?: number | undefined;
  /**
   * A refusal that asks for a longer wait than this goes to the caller at once, in milliseconds.
   *
   * @defaultValue 60,000
   */
  maxDelayMs?: number | undefined;
  clock?: Clock | undefined;
  /** Returns a random number from 0 up to 1, for jitter. */
  random?: (() => number) | undefined;
}

export interface PacingSettings extends PacerSettings {
  readonly options: PacingOptions;
  readonly timeoutMs: number;
}

const DEFAULTS = { timeoutMs: 300_000, maxRetries: 4, baseDelayMs: 500, maxDelayMs: 60_000 } as const;

/** The names of the options that the fetch, the middleware and the interceptor share. */
export const PACING_OPTIONS = {
  endpoint: true,
  key: true,
  session: true,
  priority: true,
  model: true,
  estimate: true,
  unknown: true,
  onEvent: true,
  timeoutMs: true,
  maxRetries: true,
  baseDelayMs: true,
  maxDelayMs: true,
  clock: true,
  random: true,
} as const satisfies OptionNames<PacingOptions>;

const ENDPOINT = {
  id: true,
  provider: true,
  baseURL: true,
  apiKey: true,
} as const satisfies OptionNames<FetchEndpoint>;
const FALLBACK = { endpoint: true, model: true } as const satisfies OptionNames<Fallback>;

export function checkPacing(options: PacingOptions): PacingSettings {
  checkKnown(options, PACING_OPTIONS);
  const { timeoutMs = DEFAULTS.timeoutMs, maxRetries = DEFAULTS.maxRetries, clock = systemClock } = options;
  const { baseDelayMs = DEFAULTS.baseDelayMs, maxDelayMs = DEFAULTS.maxDelayMs, random = Math.random } = options;
  if (!(Number.isInteger(maxRetries) && maxRetries >= 0))
    throw new InvalidConfigError("maxRetries", "a whole number of 0 or more", maxRetries);
  if (!(typeof timeoutMs === "number" && timeoutMs >= 0))
    throw new InvalidConfigError("timeoutMs", "0 or more", timeoutMs);
  for (const [option, value] of Object.entries({ baseDelayMs, maxDelayMs }))
    if (!isAmount(value)) throw new InvalidConfigError(option, AMOUNT, value);
  for (const option of ["model", "estimate", "random", "onEvent"] as const)
    need(options[option] === undefined || typeof options[option] === "function", option, "a function", options[option]);
  const { endpoint, key, session, priority, unknown } = options;
  need(UNKNOWN_POLICIES.includes(unknown), "unknown", '"pass", "limit" or "reject"', unknown);
  const isList = (list: unknown): list is unknown[] => Array.isArray(list) && list.length > 0;
  const isId = (id: unknown) => typeof id === "string";
  const isRoute = isList(endpoint) && endpoint.every((one) => isId(one) || (isList(one) && one.every(isId)));
  const isEndpoint = endpoint === undefined || isRoute || ["string", "function"].includes(typeof endpoint);
  need(isEndpoint, "endpoint", "an id, a list of one or more ids, or a function", endpoint);
  for (const [option, value] of Object.entries({ key, session }))
    need(["undefined", "string", "function"].includes(typeof value), option, "a string or a function", value);
  const isPriority = priority === undefined || typeof priority === "function" || Number.isFinite(priority);
  need(isPriority, "priority", "a finite number or a function", priority);
  const retry = { maxRetries, baseDelayMs, maxDelayMs };
  return {
    options: { ...options },
    timeoutMs,
    clock,
    random,
    retry,
    unknown,
    events: new CallEvents(options.onEvent),
    estimator: new TokenEstimator(),
  };
}

export function checkEndpoints(endpoints: readonly FetchEndpoint[]): void {
  need(Array.isArray(endpoints), "endpoints", "a list", endpoints);
  const ids = new Set<string>();
  for (const [i, endpoint] of endpoints.entries()) {
    checkKnown(endpoint, ENDPOINT, `endpoints[${i}].`);
    const { id, baseURL, apiKey } = endpoint;
    need(typeof id === "string" && id !== "", "endpoints[].id", "a string that is not empty", id);
    need(!ids.has(id), "endpoints[].id", "given once", id);
    ids.add(id);
    need(baseURL === undefined || isHttpUrl(baseURL), "endpoints[].baseURL", "an http or https URL", baseURL);
    // The error shows the type only, because the value may be a secret.
    const isKey = ["undefined", "string", "function"].includes(typeof apiKey);
    need(isKey, "endpoints[].apiKey", "a string or a function", typeof apiKey);
  }
}

export function checkFallback(fallback: readonly Fallback[], fallbackAfterMs: number): void {
  need(Array.isArray(fallback), "fallback", "a list", fallback);
  for (const [i, place] of fallback.entries()) {
    checkKnown(place, FALLBACK, `fallback[${i}].`);
    const { endpoint, model } = place;
    need(
      typeof endpoint === "string" && endpoint !== "",
      "fallback[].endpoint",
      "a string that is not empty",
      endpoint,
    );
    need(model === undefined || typeof model === "string", "fallback[].model", "a string", model);
  }
  need(typeof fallbackAfterMs === "number" && fallbackAfterMs >= 0, "fallbackAfterMs", "0 or more", fallbackAfterMs);
}

function isHttpUrl(text: unknown): boolean {
  try {
    return /^https?:$/.test(new URL(String(text)).protocol);
  } catch {
    return false;
  }
}

/** Rejects a gate that is none, and names the usual mistake: `createHive` returns a promise. */
export function checkGate(gate: unknown): void {
  const { acquire, then } = (gate ?? {}) as { acquire?: unknown; then?: unknown };
  need(typeof then !== "function", "gate", "a hive and not a promise of one: await createHive(…) first", gate);
  need(typeof acquire === "function", "gate", "an object with acquire()", gate);
}
