import fc from "fast-check";
import { expect, test } from "vitest";
import { bodyMeter } from "./body-meter.ts";

const encoder = new TextEncoder();

/** A message of AWS's event streams; checksums are left at 0, as nothing here reads them. */
function message(headers: Readonly<Record<string, string>>, payload: unknown): Uint8Array {
  const parts = Object.entries(headers).map(([name, value]) => {
    const [n, v] = [encoder.encode(name), encoder.encode(value)];
    return new Uint8Array([n.length, ...n, 7, v.length >> 8, v.length & 255, ...v]);
  });
  const head = parts.flatMap((part) => [...part]);
  const body = encoder.encode(JSON.stringify(payload));
  const bytes = new Uint8Array(12 + head.length + body.length + 4);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length);
  view.setUint32(4, head.length);
  bytes.set(head, 12);
  bytes.set(body, 12 + head.length);
  return bytes;
}

const event = (type: string, payload: unknown) => message({ ":event-type": type, ":message-type": "event" }, payload);
const wrapped = (inner: unknown) => event("chunk", { bytes: btoa(JSON.stringify(inner)) });

function read(messages: readonly Uint8Array[], cuts: readonly number[] = []) {
  const bytes = new Uint8Array(messages.flatMap((one) => [...one]));
  const meter = bodyMeter("application/vnd.amazon.eventstream");
  let from = 0;
  for (const cut of [...cuts.map((n) => n % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    meter.feed(bytes.subarray(from, cut));
    from = Math.max(from, cut);
  }
  const { usage, pieces, isComplete, signal } = meter;
  return { usage, pieces, isComplete, class: signal?.class };
}

const converse = [
  event("messageStart", { role: "assistant" }),
  event("contentBlockDelta", { delta: { text: "é🐝" } }),
  event("messageStop", { stopReason: "end_turn" }),
  event("metadata", { usage: { inputTokens: 9, outputTokens: 2, cacheReadInputTokens: 4 } }),
];
const invoke = [
  wrapped({ type: "message_start", message: { usage: { input_tokens: 5, cache_read_input_tokens: 7 } } }),
  wrapped({ type: "message_delta", usage: { output_tokens: 12 } }),
  wrapped({ type: "message_stop" }),
];

test.each([
  ["ConverseStream", converse, { freshInput: 9, cacheRead: 4, output: 2 }, 4],
  ["InvokeModelWithResponseStream", invoke, { freshInput: 5, cacheRead: 7, output: 12 }, 3],
])("the usage of %s is the same however it is cut", (_name, messages, usage, pieces) => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 12 }), (cuts) => {
      expect(read(messages, cuts)).toEqual({ usage, pieces, isComplete: true, class: undefined });
    }),
  );
});

test("a stream is not complete before its last event", () => {
  expect(read(converse.slice(0, 3)).isComplete).toBe(false);
  expect(read(invoke.slice(0, 2)).isComplete).toBe(false);
});

test("an exception inside a stream is a refusal", () => {
  const headers = { ":exception-type": "throttlingException", ":message-type": "exception" };
  expect(read([...converse.slice(0, 1), message(headers, { message: "Too many requests" })]).class).toBe(
    "rate_limited",
  );
});

test("bytes of another kind are no harm", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(read([bytes]).usage).toBeUndefined();
    }),
  );
});
