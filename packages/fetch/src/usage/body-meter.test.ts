import fc from "fast-check";
import { expect, test } from "vitest";
import { bodyMeter } from "./body-meter.ts";
import { countedUsage, usageOf } from "./reported-usage.ts";

const encoder = new TextEncoder();

function meter(type: string, text: string, cuts: readonly number[] = []) {
  const bytes = encoder.encode(text);
  const one = bodyMeter(type);
  let from = 0;
  for (const cut of [...cuts.map((n) => n % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    one.feed(bytes.subarray(from, cut));
    from = Math.max(from, cut);
  }
  one.end();
  return { usage: one.usage, pieces: one.pieces, class: one.signal?.class };
}

const SSE = "text/event-stream; charset=utf-8";
const openai =
  'data: {"choices":[{"delta":{"content":"é🐝"}}],"usage":null}\n\ndata: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}\n\ndata: [DONE]\n\n';
const anthropic =
  'event: message_start\r\ndata: {"type":"message_start","message":{"usage":{"input_tokens":5,"cache_read_input_tokens":7,"output_tokens":1}}}\r\n\r\nevent: message_delta\r\ndata: {"type":"message_delta","usage":{"output_tokens":12}}\r\n\r\n';
const gemini =
  'data: {"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":1}}\n\ndata: {"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":3,"thoughtsTokenCount":10}}';
const responses =
  'event: response.completed\ndata: {"type":"response.completed","response":{"usage":{"input_tokens":8,"input_tokens_details":{"cached_tokens":6},"output_tokens":3}}}\n\n';

test.each([
  ["OpenAI", openai, { freshInput: 9, output: 2 }, 2],
  ["Anthropic", anthropic, { freshInput: 5, cacheRead: 7, output: 12 }, 2],
  ["Gemini", gemini, { freshInput: 4, output: 13 }, 2],
  ["the Responses API", responses, { freshInput: 2, cacheRead: 6, output: 3 }, 1],
])("the usage of a stream of %s is the same however it is cut", (_name, text, usage, pieces) => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 12 }), (cuts) => {
      expect(meter(SSE, text, cuts)).toEqual({ usage, pieces, class: undefined });
    }),
  );
});

test("a document's usage is found, a long one's too", () => {
  const body = {
    data: "x".repeat(3_000_000),
    usage: { prompt_tokens: 4, prompt_tokens_details: { cached_tokens: 1 } },
  };
  expect(meter("application/json", JSON.stringify(body), [1_000_000, 2_000_000]).usage).toEqual({
    freshInput: 3,
    cacheRead: 1,
  });
  expect(meter("application/json", JSON.stringify({ usage: { prompt_tokens: 4 } })).usage).toEqual({ freshInput: 4 });
  expect(meter("application/json", JSON.stringify([{}, { usageMetadata: { promptTokenCount: 2 } }])).usage).toEqual({
    freshInput: 2,
  });
  expect(meter("application/json", `${"x".repeat(2_000_000)}"usage":{"a":{`).usage).toBeUndefined();
});

test("an error in a stream is detected; text about errors is no error", () => {
  const overload = 'data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
  const talk = 'data: {"choices":[{"delta":{"content":"an \\"error\\": rate_limit_error"}}]}\n\n';
  expect(meter(SSE, openai + overload).class).toBe("overloaded");
  expect(meter(SSE, talk).class).toBeUndefined();
});

test("an event with the name of an error is one, though its data does not say so", () => {
  const refused = '{"code":"Throttling.RateQuota","message":"Requests rate limit exceeded, please try again later."}';
  expect(meter(SSE, `id:1\nevent:error\n:HTTP_STATUS/429\ndata:${refused}\n\n`).class).toBe("rate_limited");
  expect(meter(SSE, `event: error\n\nid:2\nevent:result\ndata:${refused}\n\n`).class).toBeUndefined();
});

test("a document that says it was no success is an error", () => {
  const body = (success: boolean) => JSON.stringify({ code: 429, msg: "Too many requests", success });
  expect(meter("application/json", body(false)).class).toBe("rate_limited");
  expect(meter("application/json", body(true)).class).toBeUndefined();
});

test("garbage is no usage, and harms nobody", () => {
  fc.assert(
    fc.property(fc.constantFrom(SSE, "application/json", ""), fc.array(fc.uint8Array()), (type, chunks) => {
      const one = bodyMeter(type);
      for (const chunk of chunks) one.feed(chunk);
      one.end();
    }),
  );
  expect(meter(SSE, 'data: {"usage": {"prompt_tokens": "many", "completion_tokens": -1}}\n').usage).toBeUndefined();
  expect(meter(SSE, 'data: {"usage"\ndata: "usage"\n').usage).toBeUndefined();
});

test("cached input counts by the provider's rule, output where it is limited", () => {
  const usage = { freshInput: 10, cacheRead: 100, cacheWrite: 5, output: 7 };
  const tokens = (provider: string) => countedUsage(provider, usage);
  expect(tokens("anthropic")).toEqual({
    tokens: 22,
    inputTokens: 15,
    outputTokens: 7,
    promptTokens: 115,
    cachedTokens: 100,
  });
  expect(tokens("openai")).toEqual({
    tokens: 122,
    inputTokens: 115,
    outputTokens: 7,
    promptTokens: 115,
    cachedTokens: 100,
  });
  expect(tokens("groq").tokens).toBe(22);
  expect(tokens("bedrock").tokens).toBe(22);
  expect(tokens("gemini").tokens).toBe(115);
  expect(tokens("nobody").tokens).toBe(122);
});

test("Bedrock's own names are known", () => {
  const usage = { inputTokens: 3, outputTokens: 4, cacheReadInputTokens: 5, cacheWriteInputTokens: 6 };
  expect(usageOf({ usage })).toEqual({ freshInput: 3, output: 4, cacheRead: 5, cacheWrite: 6 });
});
