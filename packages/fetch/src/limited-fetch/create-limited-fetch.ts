import type { Gate, Lease } from "@hivepace/core";
import { readCall } from "../call/call-facts.ts";
import {
  type CallInfo,
  checkEndpoints,
  checkFallback,
  checkPacing,
  type FetchEndpoint,
  need,
  type PacingOptions,
} from "../options.ts";
import { AnswerWatch } from "../pacing/answer-watch.ts";
import { type Fallback, sendWithFallbacks } from "../pacing/fallback.ts";
import { neverLeft } from "../pacing/never-left.ts";
import { type PacedCall, Pacer, type Sending } from "../pacing/pacer.ts";
import { planCall } from "../pacing/plan.ts";
import { parseProviderSignal } from "../signal/parse-provider-signal.ts";
import { bodyMeter } from "../usage/body-meter.ts";
import { meteredResponse, replaceBody } from "./metered-response.ts";
import { type Outgoing, readOutgoing, withModel } from "./outgoing.ts";
import { Places } from "./places.ts";
import { isAnswerable, syntheticAnswer } from "./synthetic-answer.ts";

/** The program's own `fetch`, whichever types it has for it. */
export type GlobalFetch = typeof globalThis extends { fetch: infer F }
  ? F
  : (input: string, init?: object) => Promise<unknown>;

/** Options of `createLimitedFetch`; all have defaults. */
export interface LimitedFetchOptions<F = GlobalFetch> extends PacingOptions {
  /** What really sends. Default: the global `fetch`. */
  fetch?: F | undefined;
  /** The places that requests can go to, when it is not the one of their URL alone. */
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

const FALLBACK_AFTER_MS = 10_000;

/** As we call it and as we return it. */
type PlainFetch = (input: string, init: RequestInit) => Promise<Response>;

/** Of the time that an SDK gives a request, this part may be spent waiting. */
const PATIENCE = 0.8;

/**
 * A `fetch` that asks the gate first, reports what came of it, and sends again what was refused for a while. Pass it to
 * the client that you have: `new OpenAI({ fetch: createLimitedFetch(hive) })`.
 */
export function createLimitedFetch<F = GlobalFetch>(gate: Gate, options: LimitedFetchOptions<F> = {}): F {
  const { fetch: given, endpoints = [], fallback = [], fallbackAfterMs = FALLBACK_AFTER_MS, ...pacing } = options;
  need(typeof gate?.acquire === "function", "gate", "an object with acquire()", gate);
  need(given === undefined || typeof given === "function", "fetch", "a function", given);
  checkFallback(fallback, fallbackAfterMs);
  const core = new LimitedFetch(gate, pacing, endpoints, { chain: [...fallback], afterMs: fallbackAfterMs });
  const limited = (input: unknown, init?: RequestInit): Promise<Response> =>
    // The global is looked up at each call: tests and tracing replace it.
    core.fetch(input, init, (given ?? globalThis.fetch) as PlainFetch);
  return limited as F;
}

interface FallbackChain {
  readonly chain: readonly Fallback[];
  readonly afterMs: number;
}

/** The same for any way of sending. */
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
    // What is no URL is for `fetch` to complain about.
    if (url === undefined) return send(outgoing.url, outgoing.init);
    const facts = readCall(url.pathname, outgoing.text, outgoing.method);
    const place = this.#places.find(url);
    const info: CallInfo = { ...facts, url: outgoing.url, method: outgoing.method, provider: place.provider };
    const { signal, isReplayable } = outgoing;
    const patienceMs = patienceOf(outgoing.headers);
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

  /** The call as it would be at a fallback. */
  #stage(call: PacedCall, { endpoint, model = call.facts.model }: Fallback): PacedCall {
    const provider = this.#places.providerOf(endpoint, call.provider);
    const facts = { ...call.facts, model };
    const estimate = this.#settings.estimator.estimate(provider, facts, call.session);
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
      // What may have arrived has cost what it costs; what never left has cost nothing.
      if (isSent && !neverLeft(error)) lease.done();
      else lease.cancel();
      throw error;
    }
    // No `Response` can be made with such a status; nobody who speaks of limits sends one.
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
    if (!mayUseTokens(call)) {
      lease.done();
      return { result: response, refusal: undefined };
    }
    const meter = bodyMeter(response.headers.get("content-type"));
    const watch = new AnswerWatch(this.#pacer, lease, call, meter, response.status);
    return { result: meteredResponse(response, watch, this.#settings.clock), refusal: undefined };
  }

  /** The body of an error is short and tells its meaning; the caller gets a copy of it. */
  async #readFirst(lease: Lease, call: PacedCall, response: Response): Promise<Sending<Response>> {
    const { status, headers } = response;
    let bytes: Uint8Array;
    try {
      bytes = new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      lease.done();
      throw error;
    }
    const signal = parseProviderSignal({ status, headers, body: bytes, now: this.#settings.clock.epochMs() });
    if (signal.class === undefined && status < 400)
      return this.#answered(lease, call, replaceBody(response, bytes, headers));
    this.#pacer.observe(signal, call, lease);
    if (signal.class === undefined) {
      // A mistake in the request uses no tokens. What a broken server has counted, nobody knows.
      if (status < 500) lease.done({ tokens: 0, inputTokens: 0, outputTokens: 0 });
      else lease.done();
      return { result: replaceBody(response, bytes, headers), refusal: undefined };
    }
    this.#pacer.refuse(lease, signal, status);
    const marked = new Headers(headers);
    // One layer owns the retries. The SDKs that know this header leave them to us.
    marked.set("x-should-retry", "false");
    return { result: replaceBody(response, bytes, marked), refusal: signal };
  }
}

/** JSON documents of this size and less are read first: errors are short. */
const SHORT_BYTES = 2_048;

/** Whether a successful answer is short enough to be an error that hides behind a status of 200. */
function mayBeErrorInSuccess({ headers, body }: Response): boolean {
  const length = Number(headers.get("content-length") ?? Number.NaN);
  return body !== null && length <= SHORT_BYTES && /\bjson\b/i.test(headers.get("content-type") ?? "");
}

/** A list of models, an upload, a page: counted as a request, and over when its answer begins. */
function mayUseTokens({ facts, estimate }: PacedCall): boolean {
  if (facts.isFree) return false;
  return facts.protocol !== "other" || facts.model !== undefined || estimate.tokens > 0;
}

/** In a browser it may be relative to the page. */
function urlOf(text: string): URL | undefined {
  try {
    return new URL(text, (globalThis as { location?: { href?: string } }).location?.href);
  } catch {
    return undefined;
  }
}

/** The SDKs of OpenAI and Anthropic, and Google's, say in seconds how long they will wait. */
function patienceOf(headers: Headers): number {
  const seconds = Number(headers.get("x-stainless-timeout") ?? headers.get("x-server-timeout") ?? Number.NaN);
  return seconds > 0 ? seconds * 1_000 * PATIENCE : Infinity;
}
