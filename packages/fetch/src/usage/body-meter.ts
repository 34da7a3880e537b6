import { ERROR_EVENT } from "../signal/error-body.ts";
import { parseProviderSignal } from "../signal/parse-provider-signal.ts";
import type { ProviderSignal } from "../signal/provider-signal.ts";
import { parseJson } from "../untyped.ts";
import { AwsEventMeter } from "./aws-event-meter.ts";
import { type ReportedUsage, usageOf } from "./reported-usage.ts";

/** Reads usage and errors from a body while it passes, chunk by chunk, in bounded memory. */
export interface BodyMeter {
  feed(chunk: Uint8Array): void;
  /** To be called after the last chunk, or when the reader stopped early. */
  end(): void;
  readonly usage: ReportedUsage | undefined;
  /** Number of pieces that have arrived: an estimate of the output tokens when no usage is reported. */
  readonly pieces: number;
  /** Whether the last event of a stream has come: nothing that follows changes the usage. */
  readonly isComplete: boolean;
  /** The signal of an error inside an answer with a success status. */
  readonly signal: ProviderSignal | undefined;
}

export function bodyMeter(contentType: string | null): BodyMeter {
  if (/\bvnd\.amazon\.eventstream\b/i.test(contentType ?? "")) return new AwsEventMeter();
  return /\bevent-stream\b|ndjson/i.test(contentType ?? "") ? new StreamMeter() : new JsonMeter();
}

/** Upper bound of the characters that are kept of one line or one body. */
const LONGEST_KEPT = 1_048_576;
const TAIL = 65_536;

/** Matches the last event of Anthropic, the Responses API, Cohere and Gemini. OpenAI's chat ends with "[DONE]". */
const LAST_EVENT =
  /"type"\s*:\s*"(?:message_stop|response\.(?:completed|incomplete|failed|cancelled)|message-end)"|"finishReason"\s*:\s*".*"usageMetadata"/;
/** Matches the last line of Ollama. */
const LAST_LINE = /^\{.*"done"\s*:\s*true/;
const MAY_BE_USAGE = /"usage(?:Metadata)?"|"eval_count"/;

/** Server-sent events, and JSON lines. Only lines that may speak of usage or errors are parsed. */
class StreamMeter implements BodyMeter {
  readonly #decoder = new TextDecoder();
  #line = "";
  usage: ReportedUsage | undefined;
  pieces = 0;
  signal: ProviderSignal | undefined;
  isComplete = false;
  /** Whether the event that is read now has the name of an error. */
  #isError = false;

  feed(chunk: Uint8Array): void {
    this.#take(this.#decoder.decode(chunk, { stream: true }));
  }

  end(): void {
    this.#take(`${this.#decoder.decode()}\n`);
  }

  #take(text: string): void {
    const lines = text.split(/\r\n|\n|\r/);
    for (const [i, part] of lines.entries()) {
      const line = i === 0 ? this.#line + part : part;
      if (i < lines.length - 1) this.#read(line);
      else this.#line = line.length > LONGEST_KEPT ? "" : line;
    }
  }

  #read(line: string): void {
    if (line === "" || line.startsWith("event:")) this.#isError = ERROR_EVENT.test(line);
    const data = line.startsWith("data:") ? line.slice(5).trim() : line.startsWith("{") ? line : "";
    if (data === "[DONE]") this.isComplete = true;
    if (!data.startsWith("{")) return;
    this.pieces++;
    if (LAST_EVENT.test(data) || LAST_LINE.test(line)) this.isComplete = true;
    const mayFail = this.#isError || MAY_BE_ERROR.test(data);
    if (!mayFail && !MAY_BE_USAGE.test(data)) return;
    try {
      const payload: unknown = JSON.parse(data);
      this.usage = usageOf(payload, this.usage);
      if (mayFail) this.signal ??= errorIn(MAY_BE_ERROR.test(data) ? payload : { error: payload });
    } catch {
      // The line is not JSON, or only a part of it.
    }
  }
}

/** Reads one JSON document. Of a long one only the end is kept, which holds the usage. */
class JsonMeter implements BodyMeter {
  readonly #decoder = new TextDecoder();
  #text = "";
  #isCut = false;
  usage: ReportedUsage | undefined;
  readonly pieces = 0;
  readonly isComplete = false;
  signal: ProviderSignal | undefined;

  feed(chunk: Uint8Array): void {
    this.#text += this.#decoder.decode(chunk, { stream: true });
    if (this.#text.length > LONGEST_KEPT) {
      this.#isCut = true;
      this.#text = this.#text.slice(-TAIL);
    }
  }

  end(): void {
    const text = this.#text;
    this.#text = "";
    if (this.#isCut) {
      this.usage = usageInTail(text);
      return;
    }
    const payload = parseJson(text);
    this.usage = usageOf(payload);
    this.signal = MAY_BE_ERROR.test(text) ? errorIn(payload) : undefined;
  }
}

/** A JSON document without any of these fields is no error. */
const MAY_BE_ERROR = /"(?:[Ee]rrors?|error_code|base_resp|fault)"|"code"\s*:\s*"?336|"success"\s*:\s*false/;

/** Returns the refusal inside a document with a success status; undefined for an answer. */
function errorIn(payload: unknown): ProviderSignal | undefined {
  const signal = parseProviderSignal({ status: 200, body: payload });
  return signal.class === undefined ? undefined : signal;
}

/** Parses the last object that is called usage, found by its braces. */
function usageInTail(text: string): ReportedUsage | undefined {
  const from = [...text.matchAll(/"(usage|usageMetadata)"\s*:\s*(?=\{)/g)].at(-1);
  if (from === undefined) return undefined;
  const start = from.index + from[0].length;
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    if (text[i] === "{") depth++;
    else if (text[i] === "}" && --depth === 0)
      return usageOf({ [String(from[1])]: parseJson(text.slice(start, i + 1)) });
  }
  return undefined;
}
