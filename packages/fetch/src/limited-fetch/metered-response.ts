import type { Clock } from "@hivepace/core";
import { type StreamWatcher, watchedStream } from "../usage/watched-stream.ts";

/** The same response, its body watched as it passes. */
export function meteredResponse(response: Response, watcher: StreamWatcher<Uint8Array>, clock: Clock): Response {
  if (response.body === null) {
    watcher.end(true);
    return response;
  }
  const source = response.body as ReadableStream<Uint8Array>;
  const body = watchedStream(source, watcher, clock, ({ length }) => length);
  return replaceBody(response, body as ReadableStream, response.headers);
}

/** `Response` has no way to say where it came from; SDKs and logs look. */
export function replaceBody(response: Response, body: ReadableStream | Uint8Array | null, headers: Headers): Response {
  const { status, statusText, url, redirected } = response;
  const replaced = new Response(body as ConstructorParameters<typeof Response>[0], { status, statusText, headers });
  Object.defineProperties(replaced, { url: { value: url }, redirected: { value: redirected } });
  return replaced;
}
