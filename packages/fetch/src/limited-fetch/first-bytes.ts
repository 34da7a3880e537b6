/** The start of a body, and the rest of it where it is longer than that. */
export interface FirstBytes {
  readonly bytes: Uint8Array;
  /** The whole body again, from its start. Cancel it if nobody reads it. */
  readonly whole: ReadableStream<Uint8Array> | undefined;
}

/**
 * Upper bound of the part of an error's body that is kept in memory. Errors are short; a longer body is a page or a
 * stream without an end, of which the start tells enough.
 */
const MOST_BYTES = 1_048_576;

/** Reads a body up to a bound. */
export async function readFirstBytes(body: ReadableStream<Uint8Array> | null): Promise<FirstBytes> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    length += value.length;
    if (length > MOST_BYTES) return { bytes: joined(chunks, length), whole: resumed(chunks, reader) };
  }
  return { bytes: joined(chunks, length), whole: undefined };
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** Returns the chunks that were read, followed by those that the reader has left. */
function resumed(chunks: Uint8Array[], reader: ReadableStreamDefaultReader<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const first = chunks.shift();
        if (first !== undefined) return controller.enqueue(first);
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
