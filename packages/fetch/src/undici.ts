import type { Gate, Lease } from "@hivepace/core";
import type { Dispatcher } from "undici";
import { readCall } from "./call/call-facts.ts";
import { providerOfHost } from "./call/provider-rules.ts";
import { isAnswerable, syntheticAnswer } from "./limited-fetch/synthetic-answer.ts";
import { type CallInfo, checkPacing, type PacingOptions, type PacingSettings } from "./options.ts";
import { AnswerWatch } from "./pacing/answer-watch.ts";
import { endWithError, endWithStatus, failedSending } from "./pacing/failure.ts";
import { forbidsRetry } from "./pacing/forbids-retry.ts";
import { type PacedCall, Pacer, type Sending } from "./pacing/pacer.ts";
import { patienceOf } from "./pacing/patience.ts";
import { planCall } from "./pacing/plan.ts";
import { parseProviderSignal } from "./signal/parse-provider-signal.ts";
import { type Controller, dualHandler, type Fields, type Handler, modernHandler } from "./undici/handler.ts";
import { QueuedController } from "./undici/queued-controller.ts";
import { readBody } from "./undici/request-body.ts";
import { bodyMeter } from "./usage/body-meter.ts";

type Dispatch = Dispatcher["dispatch"];
type Options = Dispatcher.DispatchOptions;

/** Fits `compose` of undici's dispatchers. */
export type UndiciInterceptor = <D extends (options: never, handler: never) => boolean>(dispatch: D) => D;

/**
 * Returns an interceptor for `new Agent().compose(hivepaceInterceptor(hive))`. It paces every request of the
 * dispatcher, also those of `fetch(url, { dispatcher })`. Works with undici 6, 7 and 8.
 *
 * @throws INVALID_CONFIG when an option breaks its rule.
 */
export function hivepaceInterceptor(gate: Gate, options: PacingOptions = {}): UndiciInterceptor {
  const settings = checkPacing(options);
  const pacer = new Pacer(gate, settings);
  const interceptor = (dispatch: Dispatch): Dispatch =>
    function paced(request: Options, given: Handler): boolean {
      const handler = modernHandler(given);
      const controller = new QueuedController();
      handler.onRequestStart?.(controller, {});
      pace(pacer, settings, dispatch, request, handler, controller).catch((error: unknown) => {
        handler.onResponseError?.(controller, error as Error);
      });
      return true;
    };
  return interceptor satisfies Dispatcher.DispatcherComposeInterceptor as unknown as UndiciInterceptor;
}

/** A refusal that was held back, and can still be delivered to the caller. */
interface Held {
  readonly deliver: () => void;
}

async function pace(
  pacer: Pacer,
  settings: PacingSettings,
  dispatch: Dispatch,
  given: Options,
  handler: Handler,
  controller: QueuedController,
) {
  const url = new URL(given.path, String(given.origin));
  const fields = fieldsOf(given.headers);
  const header = (name: string): string | undefined => {
    const value = fields[name];
    return Array.isArray(value) ? value[0] : value;
  };
  const { body, text, isReplayable } = await readBody(given.body, header);
  const request = { ...given, body } as Options;
  const facts = readCall(url.pathname, text, request.method);
  const provider = providerOfHost(url.host);
  const info: CallInfo = { ...facts, url: url.href, method: request.method, provider };
  const { signal: own } = request as { signal?: AbortSignal };
  const signal = own === undefined ? controller.signal : AbortSignal.any([own, controller.signal]);
  const plan = planCall(info, settings, {
    defaultEndpoint: provider,
    signal,
    isReplayable,
    patienceMs: patienceOf(header),
  });
  if (plan === undefined) {
    dispatch(request, dualHandler(passing(handler, controller)));
    return;
  }
  try {
    const { "accept-encoding": _, ...headers } = fields;
    // Bodies have their content coding at this level. The usage can be read only if the provider does not compress
    // them.
    const asked = facts.protocol === "other" ? request : ({ ...request, headers } as Options);
    const held = await pacer.run(plan, (lease) =>
      send(pacer, settings, plan, lease, dispatch, asked, handler, controller),
    );
    held?.deliver();
  } catch (error) {
    if (!isAnswerable(error)) throw error;
    const { status, statusText, headers, body: answer } = syntheticAnswer(error, facts.protocol);
    deliver(handler, controller, status, headers, statusText, [new TextEncoder().encode(answer)]);
  }
}

/** Returns the caller's handler for a call without a limit, without the start, which it has received already. */
function passing(handler: Handler, controller: QueuedController): Handler {
  return {
    onRequestStart: (real) => controller.attach(real),
    onRequestUpgrade: (_real, ...rest) => handler.onRequestUpgrade?.(controller, ...rest),
    onResponseStart: (_real, ...rest) => handler.onResponseStart?.(controller, ...rest),
    onResponseData: (_real, chunk) => handler.onResponseData?.(controller, chunk),
    onResponseEnd: (_real, trailers) => handler.onResponseEnd?.(controller, trailers),
    onResponseError: (_real, error) => handler.onResponseError?.(controller, error),
  };
}

/** Resolves when the answer has reached the caller, or is a refusal that may be retried. */
function send(
  pacer: Pacer,
  settings: PacingSettings,
  plan: PacedCall,
  lease: Lease,
  dispatch: Dispatch,
  request: Options,
  handler: Handler,
  controller: QueuedController,
): Promise<Sending<Held | undefined>> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let status = 0;
    let statusText: string | undefined;
    let headers: Fields = {};
    let watch: AnswerWatch | undefined;
    const watching: Handler = {
      onRequestStart: (real) => controller.attach(real),
      onRequestUpgrade: (_real, code, fields, socket) => {
        lease.done();
        handler.onRequestUpgrade?.(controller, code, fields, socket);
        resolve({ result: undefined, refusal: undefined });
      },
      onResponseStart: (_real, code, fields, message) => {
        // Informational responses come before the final one.
        if (code < 200) return handler.onResponseStart?.(controller, code, fields, message);
        status = code;
        headers = fields as Fields;
        statusText = message;
        if (code >= 400) return undefined;
        const now = settings.clock.epochMs();
        pacer.observe(parseProviderSignal({ status: code, headers: fields, now }), plan, lease);
        lease.answered?.();
        const meter = bodyMeter(String(fields["content-type"] ?? ""));
        watch = new AnswerWatch(pacer, lease, plan, meter, code);
        return handler.onResponseStart?.(controller, code, fields, message);
      },
      onResponseData: (_real, chunk) => {
        if (watch === undefined) {
          chunks.push(chunk);
          return;
        }
        watch.chunk(chunk);
        handler.onResponseData?.(controller, chunk);
      },
      onResponseEnd: (_real, trailers) => {
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
        const failure = isRefusal ? undefined : endWithStatus(lease, status, () => body.toString());
        const fields = isRefusal ? { ...headers, "x-should-retry": "false" } : headers;
        const result = { deliver: () => deliver(handler, controller, status, fields, statusText, [body]) };
        const isFinal = forbidsRetry(headers["x-should-retry"]);
        resolve(isRefusal ? { result, refusal: signal, isFinal } : failedSending(result, failure));
      },
      onResponseError: (_real, error) => {
        if (watch === undefined) {
          endWithError(lease, error, plan.signal);
          reject(error);
          return;
        }
        watch.end(false);
        handler.onResponseError?.(controller, error);
        resolve({ result: undefined, refusal: undefined });
      },
    };
    try {
      dispatch(request, dualHandler(watching));
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
): void {
  handler.onResponseStart?.(controller, status, headers as Record<string, string | string[]>, statusText);
  for (const chunk of chunks) handler.onResponseData?.(controller, Buffer.from(chunk));
  handler.onResponseEnd?.(controller, {});
}

/** Returns header fields by lower-case name, from any form that undici takes. */
function fieldsOf(headers: Options["headers"]): Fields {
  const fields: Fields = {};
  const add = (name: string, value: string | string[] | undefined): void => {
    if (value !== undefined) fields[name.toLowerCase()] = value;
  };
  if (Array.isArray(headers))
    for (let i = 0; i + 1 < headers.length; i += 2) add(String(headers[i]), headers[i + 1] ?? undefined);
  else if (headers !== null && headers !== undefined) {
    const pairs = Symbol.iterator in headers ? headers : Object.entries(headers);
    for (const [name, value] of pairs) add(name, value);
  }
  return fields;
}
