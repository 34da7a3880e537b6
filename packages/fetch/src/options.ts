import { type Clock, InvalidConfigError, systemClock } from "@hivepace/core";
import { AMOUNT, isAmount } from "@hivepace/core/internal";
import type { CallFacts } from "./call/call-facts.ts";
import { type CallEvent, CallEvents } from "./pacing/call-events.ts";
import type { Fallback } from "./pacing/fallback.ts";
import type { PacerSettings } from "./pacing/pacer.ts";
import { UNKNOWN_POLICIES, type UnknownPolicy } from "./pacing/unknown-endpoint.ts";
import { type TokenEstimate, TokenEstimator } from "./usage/token-estimator.ts";

/** A request, as far as one can tell before it is sent. */
export interface CallInfo extends CallFacts {
  readonly url: string;
  readonly method: string;
  readonly provider: string;
}

/** A place where requests can go. */
export interface FetchEndpoint {
  /** As the gate knows it. */
  readonly id: string;
  /** Whose rules count: "openai", "anthropic", "azure", … Default: by the host. */
  readonly provider?: string | undefined;
  /** As one would give it to the SDK. With it, requests of the same protocol can move here. */
  readonly baseURL?: string | undefined;
  /** For requests that move here. Without one, a request that moves to another host takes no credentials along. */
  readonly apiKey?: string | (() => string | Promise<string>) | undefined;
}

/** What the fetch, the middleware and the interceptor have in common. */
export interface PacingOptions {
  /**
   * Where a request goes: an endpoint, a route of several, or what a function says of the request; undefined lets it pass
   * without a limit. Default: the endpoint whose `baseURL` it has, else the provider's name ("openai", "anthropic",
   * "gemini", …), else the host.
   */
  endpoint?: string | readonly string[] | ((call: CallInfo) => string | readonly string[] | undefined) | undefined;
  /** The tenant for whom it is, where tenants have limits of their own. */
  key?: string | ((call: CallInfo) => string | undefined) | undefined;
  /** Requests of one session stay on one endpoint while it has room. */
  session?: string | ((call: CallInfo) => string | undefined) | undefined;
  priority?: number | ((call: CallInfo) => number | undefined) | undefined;
  /** Under which name the gate knows the model. Default: as in the request. */
  model?: ((call: CallInfo) => string | undefined) | undefined;
  /** What a request will use. Default: learned from what the provider reports. */
  estimate?: ((call: CallInfo) => number | Partial<TokenEstimate> | undefined) | undefined;
  /**
   * The fate of calls to an endpoint or model that the gate does not know: "pass" sends them without a limit, "limit" counts
   * them against the gate's only endpoint (of several, the first), "reject" answers them with status 400.
   *
   * @defaultValue "limit" where the gate has one endpoint; else "pass", with a warning that names the missing configuration
   */
  unknown?: UnknownPolicy | undefined;
  /**
   * Told of every wait, sending, refusal, retry and move of a call. Must not block; an error that it throws is reported once
   * as the warning HIVEPACE_LISTENER_FAILED.
   */
  onEvent?: ((event: CallEvent) => void) | undefined;
  /** How long a request may wait, all its waits together; stay below the SDK's own timeout. Default: 5 minutes. */
  timeoutMs?: number | undefined;
  /** How often a refused request is sent again. Default: 4. */
  maxRetries?: number | undefined;
  /** The first wait where the provider names none. Default: 500. */
  baseDelayMs?: number | undefined;
  /** A provider that asks for a longer wait than this is not waited for. Default: 60,000. */
  maxDelayMs?: number | undefined;
  clock?: Clock | undefined;
  /** From 0 up to 1. */
  random?: (() => number) | undefined;
}

export interface PacingSettings extends PacerSettings {
  readonly options: PacingOptions;
  readonly timeoutMs: number;
}

const DEFAULTS = { timeoutMs: 300_000, maxRetries: 4, baseDelayMs: 500, maxDelayMs: 60_000 } as const;

export function checkPacing(options: PacingOptions): PacingSettings {
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
  const isRoute = Array.isArray(endpoint) && endpoint.length > 0 && endpoint.every((id) => typeof id === "string");
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
  for (const { id, baseURL, apiKey } of endpoints) {
    need(typeof id === "string" && id !== "", "endpoints[].id", "a string that is not empty", id);
    need(!ids.has(id), "endpoints[].id", "given once", id);
    ids.add(id);
    need(baseURL === undefined || isHttpUrl(baseURL), "endpoints[].baseURL", "an http or https URL", baseURL);
    // An error never shows a value that may be a secret.
    const isKey = ["undefined", "string", "function"].includes(typeof apiKey);
    need(isKey, "endpoints[].apiKey", "a string or a function", typeof apiKey);
  }
}

export function checkFallback(fallback: readonly Fallback[], fallbackAfterMs: number): void {
  need(Array.isArray(fallback), "fallback", "a list", fallback);
  for (const { endpoint, model } of fallback) {
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

export function need(holds: boolean, option: string, rule: string, value: unknown): void {
  if (!holds) throw new InvalidConfigError(option, rule, value);
}
