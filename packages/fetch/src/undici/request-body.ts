/** Longer bodies are sent without being read; their tokens are unknown. */
const LONGEST_READ = 8 * 1_048_576;

export interface ReadBody {
  /** The body to send. */
  readonly body: unknown;
  readonly text: string | undefined;
  /** Whether the body can be sent twice. */
  readonly isReplayable: boolean;
}

/**
 * Reads the body of a request. `fetch()` hands its bodies down as iterables; those that are JSON of a known length
 * are read first.
 */
export async function readBody(body: unknown, header: (name: string) => string | undefined): Promise<ReadBody> {
  if (body === undefined || body === null) return { body, text: undefined, isReplayable: true };
  if (typeof body === "string") return { body, text: body, isReplayable: true };
  if (body instanceof Uint8Array) return { body, text: new TextDecoder().decode(body), isReplayable: true };
  const length = Number(header("content-length") ?? Number.NaN);
  const isJson = /\bjson\b/i.test(header("content-type") ?? "");
  if (!(isJson && length <= LONGEST_READ && isIterable(body))) return { body, text: undefined, isReplayable: false };
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  const whole = Buffer.concat(chunks);
  return { body: whole, text: whole.toString(), isReplayable: true };
}

function isIterable(body: unknown): body is AsyncIterable<Uint8Array | string> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}
