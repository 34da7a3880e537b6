import { parseProviderSignal } from "../signal/parse-provider-signal.ts";
import type { ProviderSignal } from "../signal/provider-signal.ts";
import { parseJson } from "../untyped.ts";
import type { BodyMeter } from "./body-meter.ts";
import { type ReportedUsage, usageOf } from "./reported-usage.ts";

/** Bytes of the prelude: length of the message, length of its headers, and their checksum. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
/** The meter stops at longer messages, which no model sends. */
const LONGEST_MESSAGE = 16 * 1_048_576;
const COMPLETE = /"type":"message_stop"|"amazon-bedrock-invocationMetrics"|"stopReason"|"completionReason"/;

/**
 * Bedrock's binary event streams (`application/vnd.amazon.eventstream`): messages with a length, headers and a JSON payload.
 * `InvokeModelWithResponseStream` wraps the model's own events in base64; `ConverseStream` sends its events as they are, and
 * the usage in its last one.
 */
export class AwsEventMeter implements BodyMeter {
  #rest = new Uint8Array(0);
  #isBroken = false;
  usage: ReportedUsage | undefined;
  pieces = 0;
  signal: ProviderSignal | undefined;
  isComplete = false;

  feed(chunk: Uint8Array): void {
    if (this.#isBroken) return;
    let bytes = this.#rest.length === 0 ? chunk : joined(this.#rest, chunk);
    while (bytes.length >= PRELUDE_BYTES) {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const length = view.getUint32(0);
      const headersLength = view.getUint32(4);
      const payloadFrom = PRELUDE_BYTES + headersLength;
      if (length > LONGEST_MESSAGE || payloadFrom + CHECKSUM_BYTES > length) {
        this.#isBroken = true;
        return;
      }
      if (bytes.length < length) break;
      const headers = decode(bytes.subarray(PRELUDE_BYTES, payloadFrom));
      this.#read(headers, decode(bytes.subarray(payloadFrom, length - CHECKSUM_BYTES)));
      bytes = bytes.subarray(length);
    }
    this.#rest = bytes.slice();
  }

  end(): void {
    this.#rest = new Uint8Array(0);
  }

  /** Header names and values are text between type and length bytes, which is enough to find an exception's name. */
  #read(headers: string, payload: string): void {
    this.pieces++;
    const exception = /:exception-type[^a-zA-Z]*([a-zA-Z]+Exception)/.exec(headers)?.[1];
    if (exception !== undefined) {
      const signal = parseProviderSignal({ status: 200, body: { [exception]: parseJson(payload) ?? {} } });
      if (signal.class !== undefined) this.signal ??= signal;
      return;
    }
    const outer = parseJson(payload) as { readonly bytes?: unknown } | undefined;
    const text = typeof outer?.bytes === "string" ? fromBase64(outer.bytes) : payload;
    const event = text === payload ? outer : parseJson(text);
    this.usage = usageOf(event, this.usage);
    // Converse names its last event in the headers.
    if (/:event-type[^a-zA-Z]*metadata/.test(headers) || (text !== payload && COMPLETE.test(text)))
      this.isComplete = true;
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function fromBase64(text: string): string {
  try {
    return decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
  } catch {
    return "";
  }
}
