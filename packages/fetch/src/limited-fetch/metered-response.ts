/** Told of what passes, and once of the end. */
export interface BodyWatcher {
  chunk(bytes: Uint8Array): void;
  /** `isWhole` is false when the reader stopped early or the connection broke. */
  end(isWhole: boolean): void;
}

/**
 * The same response, its body watched as it passes. Nothing is read before the caller reads, and nothing is kept: the
 * caller's pace is the connection's.
 */
export function meteredResponse(response: Response, watcher: BodyWatcher): Response {
  if (response.body === null) {
    watcher.end(true);
    return response;
  }
  const reader = response.body.getReader();
  let isOver = false;
  // A reader that stops while it waits for more ends the read that it waits for, too.
  const end = (isWhole: boolean): void => {
    if (!isOver) watcher.end(isWhole);
    isOver = true;
  };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            end(true);
            controller.close();
          } else {
            watcher.chunk(value);
            controller.enqueue(value);
          }
        } catch (error) {
          end(false);
          controller.error(error);
        }
      },
      cancel(reason) {
        end(false);
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return replaceBody(response, body as ReadableStream, response.headers);
}

/** `Response` has no way to say where it came from; SDKs and logs look. */
export function replaceBody(response: Response, body: ReadableStream | Uint8Array | null, headers: Headers): Response {
  const { status, statusText, url, redirected } = response;
  const replaced = new Response(body as ConstructorParameters<typeof Response>[0], { status, statusText, headers });
  Object.defineProperties(replaced, { url: { value: url }, redirected: { value: redirected } });
  return replaced;
}
