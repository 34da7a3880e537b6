import type { Clock } from "@hivepace/core";
import { type StreamWatcher, watchedStream } from "../usage/watched-stream.ts";

/** Returns the same response with a body that is metered while it passes. */
export function meteredResponse(response: Response, watcher: StreamWatcher<Uint8Array>, clock: Clock): Response {
  if (response.body === null) {
    watcher.end(true);
    return response;
  }
  const source = response.body as ReadableStream<Uint8Array>;
  const body = watchedStream(source, watcher, clock, ({ length }) => length);
  return replaceBody(response, body as ReadableStream, response.headers);
}

/** `new Response()` takes no URL, and SDKs and logs read it. */
export function replaceBody(response: Response, body: ReadableStream | Uint8Array | null, headers: Headers): Response {
  const { status, statusText, url, redirected } = response;
  const replaced = new Response(body as ConstructorParameters<typeof Response>[0], { status, statusText, headers });
  Object.defineProperties(replaced, { url: { value: url }, redirected: { value: redirected } });
  return replaced;
}
