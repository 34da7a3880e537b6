import type { AbortSignalLike } from "@hivepace/core";

/** A request that was handed to `fetch`, read once, so that it can be sent several times. */
export interface Outgoing {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  /** The body as text. Undefined for a stream, which only its receiver can read. */
  readonly text: string | undefined;
  readonly signal: AbortSignalLike | undefined;
  /** Whether the request can be sent again. A body that is a stream can be sent only once. */
  readonly isReplayable: boolean;
  /** The second argument of `fetch` that sends the request to its own URL. */
  readonly init: RequestInit;
}

export async function readOutgoing(input: unknown, init: RequestInit | undefined): Promise<Outgoing> {
  if (isRequest(input)) return readRequest(input, init);
  const { body, signal } = init ?? {};
  return {
    url: String(input),
    method: (init?.method ?? "GET").toUpperCase(),
    headers: new Headers(init?.headers),
    text: textOf(body),
    signal: (signal ?? undefined) as AbortSignalLike | undefined,
    isReplayable: !isStream(body),
    init: init ?? {},
  };
}

/** Reads the body of a `Request`, as `fetch` does, so that it can be sent again. */
async function readRequest(request: Request, init: RequestInit | undefined): Promise<Outgoing> {
  const { method, redirect, keepalive, signal } = request;
  const own =
    init?.body === undefined && request.body !== null ? new Uint8Array(await request.arrayBuffer()) : undefined;
  const body = init?.body ?? own;
  const headers = new Headers(init?.headers ?? request.headers);
  return {
    url: request.url,
    method: (init?.method ?? method).toUpperCase(),
    headers,
    text: textOf(body),
    signal: (init?.signal ?? signal) as AbortSignalLike,
    isReplayable: !isStream(body),
    init: { method, redirect, keepalive, signal, ...init, headers, ...(body === undefined ? {} : { body }) },
  };
}

/** Recognizes a `Request` by its fields, because one program can have several classes of that name. */
function isRequest(input: unknown): input is Request {
  return typeof input === "object" && input !== null && "url" in input && "arrayBuffer" in input;
}

function isStream(body: unknown): boolean {
  return typeof body === "object" && body !== null && ("getReader" in body || Symbol.asyncIterator in body);
}

function textOf(body: unknown): string | undefined {
  if (typeof body === "string") return body;
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return new TextDecoder().decode(body as Uint8Array);
  return undefined;
}

/** Returns the same request for another model, which stands in the body and, in some protocols, in the path. */
export function withModel(outgoing: Outgoing, url: URL, model: string): { outgoing: Outgoing; url: URL } {
  const path = url.pathname.replace(/(\/(?:models|deployments)\/)[^/:]+/, `$1${encodeURIComponent(model)}`);
  const moved = new URL(url);
  moved.pathname = path;
  const text = outgoing.text === undefined ? undefined : renamed(outgoing.text, model);
  const init = text === undefined ? outgoing.init : { ...outgoing.init, body: text };
  const headers = new Headers(outgoing.headers);
  // The header holds the length of the former body.
  headers.delete("content-length");
  return { outgoing: { ...outgoing, url: moved.href, headers, text, init: { ...init, headers } }, url: moved };
}

function renamed(text: string, model: string): string {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body !== "object" || body === null || !("model" in body)) return text;
    return JSON.stringify({ ...body, model });
  } catch {
    return text;
  }
}
