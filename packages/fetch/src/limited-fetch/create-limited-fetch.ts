import type { Gate, Lease } from "@hivepace/core";
import { checkKnown, need, type OptionNames } from "@hivepace/core/internal";
import { readCall } from "../call/call-facts.ts";
import {
  type CallInfo,
  checkEndpoints,
  checkFallback,
  checkPacing,
  type FetchEndpoint,
  PACING_OPTIONS,
  type PacingOptions,
} from "../options.ts";
import { AnswerWatch } from "../pacing/answer-watch.ts";
import { endWithError, endWithStatus, failedSending } from "../pacing/failure.ts";
import { type Fallback, sendWithFallbacks } from "../pacing/fallback.ts";
import { forbidsRetry } from "../pacing/forbids-retry.ts";
import { type PacedCall, Pacer, type Sending } from "../pacing/pacer.ts";
import { patienceOf } from "../pacing/patience.ts";
import { planCall } from "../pacing/plan.ts";
import { parseProviderSignal } from "../signal/parse-provider-signal.ts";
import { bodyMeter } from "../usage/body-meter.ts";
import { type FirstBytes, readFirstBytes } from "./first-bytes.ts";
import { meteredResponse, replaceBody } from "./metered-response.ts";
import { type Outgoing, readOutgoing, withModel } from "./outgoing.ts";
import { Places } from "./places.ts";
import { isAnswerable, syntheticAnswer } from "./synthetic-answer.ts";

/** The type of the program's own `fetch`: that of the browser, of Node or of another runtime. */
export type GlobalFetch = typeof globalThis extends { fetch: infer F }
  ? F
  : (input: string, init?: object) => Promise<unknown>;

/** Options of `createLimitedFetch`; all have defaults. */
export interface LimitedFetchOptions<F = GlobalFetch> extends PacingOptions {
  /**
   * The `fetch` that sends the requests.
   *
   * @defaultValue the global `fetch`, looked up at each call
   */
  fetch?: F | undefined;
  /**
   * The endpoints to which requests can move, and their base URLs.
   *
   * @defaultValue none: every request stays at its own host
   */
  endpoints?: readonly FetchEndpoint[] | undefined;
  /**
   * Where calls go whose own endpoint or model is unavailable, in this order: places of the same protocol.
   *
   * @defaultValue none
   * @example
   * ```ts
   * import type { LimitedFetchOptions } from "@hivepace/fetch";
   *
   * export const options: LimitedFetchOptions = {
   *   endpoints: [{ id: "azure", baseURL: "https://mine.openai.azure.com/openai/v1", apiKey: "…" }],
   *   fallback: [{ endpoint: "openai", model: "gpt-5-mini" }, { endpoint: "azure" }],
   * };
   * ```
   */
  fallback?: readonly Fallback[] | undefined;
  /**
   * A call that would have to wait longer than this goes to the next `fallback`, in milliseconds.
   *
   * @defaultValue 10,000
   */
  fallbackAfterMs?: number | undefined;
}

const OPTIONS = {
  ...PACING_OPTIONS,
  fetch: true,
  endpoints: true,
  fallback: true,
  fallbackAfterMs: true,
} as const satisfies OptionNames<LimitedFetchOptions>;

const FALLBACK_AFTER_MS = 10_000;

/** The signature of `fetch` inside of this package. */
type PlainFetch = (input: string, init: RequestInit) => Promise<Response>;

/**
 * Returns a `fetch` that takes a lease from the gate before each request, settles it with the reported usage, and
 * repeats refused requests after the wait that the provider asks for. Pass it to the SDK that you use.
 *
 * @example
 * ```ts
 * const openai = new OpenAI({ apiKey: "sk-…", fetch: createLimitedFetch(hive) });
 * ```
 *
 * @throws INVALID_CONFIG when an option breaks its rule.
 */
export function createLimitedFetch<F = GlobalFetch>(gate: Gate, options: LimitedFetchOptions<F> = {}): F {
  checkKnown(options, OPTIONS);
  const { fetch: given, endpoints = [], fallback = [], fallbackAfterMs = FALLBACK_AFTER_MS, ...pacing } = options;
  need(given === undefined || typeof given === "function", "fetch", "a function", given);
  checkFallback(fallback, fallbackAfterMs);
  const core = new LimitedFetch(gate, pacing, endpoints, { chain: [...fallback], afterMs: fallbackAfterMs });
  const limited = (input: unknown, init?: RequestInit): Promise<Response> =>
    // Tests and tracing replace the global `fetch`, so it is looked up at each call.
    core.fetch(input, init, (given ?? globalThis.fetch) as PlainFetch);
  return limited as F;
}

interface FallbackChain {
  readonly chain: readonly Fallback[];
  readonly afterMs: number;
}

/** The limited fetch for any function that sends, which the middleware of Anthropic's SDK needs. */
export class LimitedFetch {
  readonly #pacer: Pacer;
  readonly #settings: ReturnType<typeof checkPacing>;
  readonly #places: Places;
  readonly #fallback: FallbackChain;

  constructor(
    gate: Gate,
    options: PacingOptions,
    endpoints: readonly FetchEndpoint[],
    fallback: FallbackChain = { chain: [], afterMs: FALLBACK_AFTER_MS },
  ) {
    this.#fallback = fallback;
    checkEndpoints(endpoints);
    this.#settings = checkPacing(options);
    this.#pacer = new Pacer(gate, this.#settings);
    this.#places = new Places(endpoints);
  }

  async fetch(input: unknown, init: RequestInit | undefined, send: PlainFetch): Promise<Response> {
    const outgoing = await readOutgoing(input, init);
    const url = urlOf(outgoing.url);
    // `fetch` itself rejects an invalid URL with its own error.
    if (url === undefined) return send(outgoing.url, outgoing.init);
    const facts = readCall(url.pathname, outgoing.text, outgoing.method);
    const place = this.#places.find(url);
    const info: CallInfo = { ...facts, url: outgoing.url, method: outgoing.method, provider: place.provider };
    const { signal, isReplayable } = outgoing;
    const patienceMs = patienceOf((name) => outgoing.headers.get(name));
    const call = planCall(info, this.#settings, { defaultEndpoint: place.id, signal, isReplayable, patienceMs });
    if (call === undefined) return send(outgoing.url, outgoing.init);
    try {
      const { clock, events } = this.#settings;
      const stages = [call, ...this.#fallback.chain.map((place) => this.#stage(call, place))] as const;
      return await sendWithFallbacks(this.#pacer, stages, this.#fallback.afterMs, clock, events, (lease, stage) => {
        const { model } = stage.facts;
        if (stage.route === call.route || model === undefined || model === facts.model)
          return this.#send(lease, stage, outgoing, url, send);
        const other = withModel(outgoing, url, model);
        return this.#send(lease, stage, other.outgoing, other.url, send);
      });
    } catch (error) {
      if (!isAnswerable(error)) throw error;
      const { body, ...rest } = syntheticAnswer(error, facts.protocol);
      return new Response(body, rest);
    }
  }

  /** Returns the call as it is at a fallback: with the provider, model and estimate of that place. */
  #stage(call: PacedCall, { endpoint, model = call.facts.model }: Fallback): PacedCall {
    const provider = this.#places.providerOf(endpoint, call.provider);
    const facts = { ...call.facts, model };
    const estimate = () => this.#settings.estimator.estimate(provider, facts, call.session);
    return { ...call, provider, facts, route: [endpoint], estimate };
  }

  async #send(
    lease: Lease,
    call: PacedCall,
    outgoing: Outgoing,
    url: URL,
    send: PlainFetch,
  ): Promise<Sending<Response>> {
    let response: Response;
    let isSent = false;
    try {
      const moved = await this.#places.move(lease.endpoint, url, outgoing.headers, call.facts.protocol);
      isSent = true;
      response = await send(
        moved?.url ?? outgoing.url,
        moved ? { ...outgoing.init, headers: moved.headers } : outgoing.init,
      );
    } catch (error) {
      // A request that may have arrived keeps its reservation; a request that never left the machine has used
      // nothing.
      if (isSent) endWithError(lease, error, call.signal);
      else lease.cancel();
      throw error;
    }
    // `new Response()` rejects such a status, and no provider uses one for a refusal.
    if (response.status > 599) {
      lease.done();
      return { result: response, refusal: undefined };
    }
    const there = { ...call, provider: this.#places.providerOf(lease.endpoint, call.provider) };
    return response.status < 400 && !mayBeErrorInSuccess(response)
      ? this.#answered(lease, there, response)
      : this.#readFirst(lease, there, response);
  }

  #answered(lease: Lease, call: PacedCall, response: Response): Sending<Response> {
    const now = this.#settings.clock.epochMs();
    this.#pacer.observe(parseProviderSignal({ status: response.status, headers: response.headers, now }), call, lease);
    lease.answered?.();
    if (!mayUseTokens(call)) {
      lease.done();
      return { result: response, refusal: undefined };
    }
    const meter = bodyMeter(response.headers.get("content-type"));
    const watch = new AnswerWatch(this.#pacer, lease, call, meter, response.status);
    return { result: meteredResponse(response, watch, this.#settings.clock), refusal: undefined };
  }

  /** Reads the body before the caller does, classifies it, and returns a response with a copy of the body. */
  async #readFirst(lease: Lease, call: PacedCall, response: Response): Promise<Sending<Response>> {
    const { status, headers } = response;
    let first: FirstBytes;
    try {
      first = await readFirstBytes(response.body as ReadableStream<Uint8Array> | null);
    } catch (error) {
      endWithError(lease, error, call.signal);
      throw error;
    }
    const { bytes, whole = bytes } = first;
    const signal = parseProviderSignal({ status, headers, body: bytes, now: this.#settings.clock.epochMs() });
    if (signal.class === undefined && status < 400)
      return this.#answered(lease, call, replaceBody(response, whole, headers));
    this.#pacer.observe(signal, call, lease);
    if (signal.class === undefined) {
      const failure = endWithStatus(lease, status, () => new TextDecoder().decode(bytes));
      return failedSending(replaceBody(response, whole, headers), failure);
    }
    this.#pacer.refuse(lease, signal, status);
    // A refusal may be repeated or moved, so that nobody reads the rest of its body.
    first.whole?.cancel().catch(() => undefined);
    const marked = new Headers(headers);
    // Only one layer may retry. SDKs that know this header leave the retries to Hivepace.
    marked.set("x-should-retry", "false");
    const isFinal = forbidsRetry(headers.get("x-should-retry"));
    return { result: replaceBody(response, bytes, marked), refusal: signal, isFinal };
  }
}

/** Upper bound of the size of JSON documents that are read before the caller gets them. Errors are short. */
const SHORT_BYTES = 2_048;

/** Whether a successful answer is short enough to be an error that hides behind a status of 200. */
function mayBeErrorInSuccess({ headers, body }: Response): boolean {
  const length = Number(headers.get("content-length") ?? Number.NaN);
  return body !== null && length <= SHORT_BYTES && /\bjson\b/i.test(headers.get("content-type") ?? "");
}

/**
 * Whether an answer may report tokens. A list of models or an upload counts as a request only, and its lease ends
 * when the answer begins.
 */
function mayUseTokens({ facts, estimate }: PacedCall): boolean {
  if (facts.isFree) return false;
  return facts.protocol !== "other" || facts.model !== undefined || estimate().tokens > 0;
}

/** Parses a URL, which may be relative to the page in a browser. */
function urlOf(text: string): URL | undefined {
  try {
    return new URL(text, (globalThis as { location?: { href?: string } }).location?.href);
  } catch {
    return undefined;
  }
}
