import type { Dispatcher } from "undici";

export type Handler = Dispatcher.DispatchHandler;
export type Controller = Dispatcher.DispatchController;
export type Fields = Record<string, string | string[] | undefined>;

/** The handlers of undici 6, which `fetch()` and `request()` of undici 7 use too. */
interface LegacyHandler {
  onConnect?(abort: (reason?: unknown) => void, context: unknown): void;
  onUpgrade?(status: number, headers: Buffer[] | null, socket: unknown): void;
  onHeaders?(status: number, headers: Buffer[], resume: () => void, statusText: string): boolean;
  onData?(chunk: Buffer): boolean;
  onComplete?(trailers: Buffer[] | null): void;
  onError?(error: Error): void;
}

/** Converts any handler to one of undici 7 and 8. */
export function modernHandler(handler: Handler): Handler {
  if (typeof handler.onRequestStart === "function" || typeof handler.onResponseStart === "function") return handler;
  const legacy = handler as LegacyHandler;
  return {
    onRequestStart: (controller, context) =>
      legacy.onConnect?.((reason) => controller.abort(reason as Error), context ?? null),
    onRequestUpgrade: (_controller, status, headers, socket) =>
      legacy.onUpgrade?.(status, rawFields(headers as Fields), socket),
    onResponseStart: (controller, status, headers, statusText) => {
      const wantsMore = legacy.onHeaders?.(
        status,
        rawFields(headers as Fields),
        () => controller.resume(),
        statusText ?? "",
      );
      if (wantsMore === false) controller.pause();
    },
    onResponseData: (controller, chunk) => {
      if (legacy.onData?.(chunk) === false) controller.pause();
    },
    onResponseEnd: (_controller, trailers) => legacy.onComplete?.(rawFields(trailers as Fields)),
    onResponseError: (_controller, error) => legacy.onError?.(error),
  };
}

/** Returns a handler that dispatchers of undici 6, 7 and 8 take. Those of 7 and 8 look for the modern methods first. */
export function dualHandler(modern: Handler): Handler {
  let controller: LegacyController | undefined;
  const current = (): LegacyController => {
    controller ??= new LegacyController(() => undefined);
    return controller;
  };
  const legacy: LegacyHandler = {
    onConnect: (abort, context) => {
      controller = new LegacyController(abort);
      modern.onRequestStart?.(controller, context as Record<string, unknown>);
    },
    onUpgrade: (status, headers, socket) =>
      modern.onRequestUpgrade?.(current(), status, namedFields(headers ?? []), socket as never),
    onHeaders: (status, headers, resume, statusText) => {
      current().onResume = resume;
      modern.onResponseStart?.(current(), status, namedFields(headers), statusText);
      return !current().paused;
    },
    onData: (chunk) => {
      modern.onResponseData?.(current(), chunk);
      return !current().paused;
    },
    onComplete: (trailers) => modern.onResponseEnd?.(current(), namedFields(trailers ?? [])),
    onError: (error) => modern.onResponseError?.(current(), error),
  };
  return { ...legacy, ...modern } as Handler;
}

/** Adapts a connection of undici 6 to the controller of undici 7. */
class LegacyController implements Controller {
  readonly rawHeaders = null;
  readonly rawTrailers = null;
  readonly #abort: (reason?: unknown) => void;
  onResume: () => void = () => undefined;
  aborted = false;
  paused = false;
  reason: Error | null = null;

  constructor(abort: (reason?: unknown) => void) {
    this.#abort = abort;
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.onResume();
  }

  abort(reason: Error): void {
    this.aborted = true;
    this.reason = reason;
    this.#abort(reason);
  }
}

/** Flattens header fields to names and values in turn, as undici 6 has them. */
function rawFields(fields: Fields | null | undefined): Buffer[] {
  return Object.entries(fields ?? {}).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value ?? ""]).flatMap((one) => [Buffer.from(name), Buffer.from(one, "latin1")]),
  );
}

function namedFields(raw: readonly Buffer[]): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = {};
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = String(raw[i]).toLowerCase();
    const value = (raw[i + 1] as Buffer).toString("latin1");
    const before = fields[name];
    fields[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return fields;
}
