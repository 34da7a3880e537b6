import type { Gate, Lease } from "@hivepace/core";
import type { Dispatcher } from "undici";
import { readCall } from "./call/call-facts.ts";
import { providerOfHost } from "./call/provider-rules.ts";
import { isAnswerable, syntheticAnswer } from "./limited-fetch/synthetic-answer.ts";
import { type CallInfo, checkPacing, type PacingOptions, type PacingSettings } from "./options.ts";
import { AnswerWatch } from "./pacing/answer-watch.ts";
import { neverLeft } from "./pacing/never-left.ts";
import { type PacedCall, Pacer, type Sending } from "./pacing/pacer.ts";
import { planCall } from "./pacing/plan.ts";
import { parseProviderSignal } from "./signal/parse-provider-signal.ts";
import { bodyMeter } from "./usage/body-meter.ts";

type Dispatch = Dispatcher["dispatch"];
type Options = Dispatcher.DispatchOptions;
type Handler = Dispatcher.DispatchHandler;
type Controller = Dispatcher.DispatchController;
type Fields = Record<string, string | string[] | undefined>;

/** Fits `compose` of undici's dispatchers. */
export type UndiciInterceptor = <D extends (options: never, handler: never) => boolean>(dispatch: D) => D;

/** For `new Agent().compose(hivepaceInterceptor(hive))`: every request that goes through the dispatcher is paced. */
export function hivepaceInterceptor(gate: Gate, options: PacingOptions = {}): UndiciInterceptor {
  const settings = checkPacing(options);
  const pacer = new Pacer(gate, settings);
  const interceptor = (dispatch: Dispatch): Dispatch =>
    function paced(request: Options, handler: Handler): boolean {
      pace(pacer, settings, dispatch, request, handler).catch((error: unknown) => {
        handler.onResponseError?.(IDLE, error as Error);
      });
      return true;
    };
  return interceptor satisfies Dispatcher.DispatcherComposeInterceptor as unknown as UndiciInterceptor;
}

/** Stands for a connection where there is none: nothing to pause, nothing to abort. */
const IDLE: Controller = {
  aborted: false,
  paused: false,
  reason: null,
  rawHeaders: null,
  rawTrailers: null,
  pause() {},
  resume() {},
  abort() {},
};

/** How an answer was left: handed on to the caller, or held back because it is a refusal. */
interface Held {
  readonly deliver: () => void;
}

async function pace(pacer: Pacer, settings: PacingSettings, dispatch: Dispatch, request: Options, handler: Handler) {
  const url = new URL(request.path, String(request.origin));
  const { body } = request as { body?: unknown };
  const text =
    typeof body === "string" ? body : body instanceof Uint8Array ? new TextDecoder().decode(body) : undefined;
  const facts = readCall(url.pathname, text, request.method);
  const provider = providerOfHost(url.host);
  const info: CallInfo = { ...facts, url: url.href, method: request.method, provider };
  const { signal } = request as { signal?: PacedCall["signal"] };
  const isReplayable = body === undefined || body === null || text !== undefined;
  const plan = planCall(info, settings, { defaultEndpoint: provider, signal, isReplayable });
  if (plan === undefined) {
    dispatch(request, handler);
    return;
  }
  try {
    const asked = facts.protocol === "other" ? request : { ...request, headers: withoutEncoding(request.headers) };
    const held = await pacer.run(plan, (lease) => send(pacer, settings, plan, lease, dispatch, asked, handler));
    held?.deliver();
  } catch (error) {
    if (!isAnswerable(error)) throw error;
    const { status, statusText, headers, body: answer } = syntheticAnswer(error, facts.protocol);
    deliver(handler, IDLE, status, headers, statusText, [new TextEncoder().encode(answer)]);
  }
}

/** Resolves when the answer is with the caller, or is a refusal that may be tried again. */
function send(
  pacer: Pacer,
  settings: PacingSettings,
  plan: PacedCall,
  lease: Lease,
  dispatch: Dispatch,
  request: Options,
  handler: Handler,
): Promise<Sending<Held | undefined>> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let status = 0;
    let statusText: string | undefined;
    let headers: Fields = {};
    let watch: AnswerWatch | undefined;
    const watching: Handler = {
      onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
      onRequestUpgrade: (controller, code, fields, socket) => {
        lease.done();
        handler.onRequestUpgrade?.(controller, code, fields, socket);
        resolve({ result: undefined, refusal: undefined });
      },
      onResponseStart: (controller, code, fields, message) => {
        // What comes before the answer proper.
        if (code < 200) return handler.onResponseStart?.(controller, code, fields, message);
        status = code;
        headers = fields as Fields;
        statusText = message;
        if (code >= 400) return undefined;
        const now = settings.clock.epochMs();
        pacer.observe(parseProviderSignal({ status: code, headers: fields, now }), plan, lease);
        const meter = bodyMeter(String(fields["content-type"] ?? ""));
        watch = new AnswerWatch(pacer, lease, plan, meter, code);
        return handler.onResponseStart?.(controller, code, fields, message);
      },
      onResponseData: (controller, chunk) => {
        if (watch === undefined) {
          chunks.push(chunk);
          return;
        }
        watch.chunk(chunk);
        handler.onResponseData?.(controller, chunk);
      },
      onResponseEnd: (controller, trailers) => {
        if (watch !== undefined) {
          watch.end(true);
          handler.onResponseEnd?.(controller, trailers);
          resolve({ result: undefined, refusal: undefined });
          return;
        }
        const body = Buffer.concat(chunks);
        const signal = parseProviderSignal({ status, headers, body, now: settings.clock.epochMs() });
        pacer.observe(signal, plan, lease);
        const isRefusal = signal.class !== undefined;
        if (isRefusal) pacer.refuse(lease, signal, status);
        else if (status < 500) lease.done({ tokens: 0, inputTokens: 0, outputTokens: 0 });
        else lease.done();
        const fields = isRefusal ? { ...headers, "x-should-retry": "false" } : headers;
        const result = { deliver: () => deliver(handler, controller, status, fields, statusText, [body], true) };
        resolve({ result, refusal: isRefusal ? signal : undefined });
      },
      onResponseError: (controller, error) => {
        if (watch === undefined) {
          if (neverLeft(error)) lease.cancel();
          else lease.done();
          reject(error);
          return;
        }
        watch.end(false);
        handler.onResponseError?.(controller, error);
        resolve({ result: undefined, refusal: undefined });
      },
    };
    try {
      dispatch(request, watching);
    } catch (error) {
      lease.cancel();
      reject(error);
    }
  });
}

function deliver(
  handler: Handler,
  controller: Controller,
  status: number,
  headers: Fields,
  statusText: string | undefined,
  chunks: readonly Uint8Array[],
  hasStarted = false,
): void {
  if (!hasStarted) handler.onRequestStart?.(controller, {});
  handler.onResponseStart?.(controller, status, headers as Record<string, string | string[]>, statusText);
  for (const chunk of chunks) handler.onResponseData?.(controller, Buffer.from(chunk));
  handler.onResponseEnd?.(controller, {});
}

/** Below this, bodies are as they come over the wire; only what is not compressed can be read for its usage. */
function withoutEncoding(headers: Options["headers"]): Record<string, string | string[]> {
  const fields = new Map<string, string | string[]>();
  const add = (name: string, value: string | string[] | undefined): void => {
    const key = name.toLowerCase();
    if (value !== undefined && key !== "accept-encoding") fields.set(key, value);
  };
  if (Array.isArray(headers))
    for (let i = 0; i + 1 < headers.length; i += 2) add(String(headers[i]), headers[i + 1] ?? undefined);
  else if (headers !== null && headers !== undefined) {
    const pairs = Symbol.iterator in headers ? headers : Object.entries(headers);
    for (const [name, value] of pairs) add(name, value);
  }
  return Object.fromEntries(fields);
}
