import { ManualClock } from "@hivepace/core/testing";
import { expect, test } from "vitest";
import { LocalGate } from "../../test/support/local-gate.ts";
import { createLimitedFetch } from "../limited-fetch/create-limited-fetch.ts";

const CHAT = "https://api.openai.com/v1/chat/completions";
const MESSAGES = "https://api.anthropic.com/v1/messages";
const GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/g:streamGenerateContent";
const RESPONSES = "https://api.openai.com/v1/responses";

/** A limited fetch whose provider sends these events and then leaves the connection open. */
async function openStream(url: string, events: readonly string[]) {
  const clock = new ManualClock();
  const gate = new LocalGate({ clock });
  const left = [...events];
  const source = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const next = left.shift();
        if (next === undefined) return new Promise<void>(() => undefined);
        controller.enqueue(new TextEncoder().encode(`data: ${next}\n\n`));
        return undefined;
      },
    },
    { highWaterMark: 0 },
  );
  const headers = { "content-type": "text/event-stream" };
  const fetch = (async () => new Response(source as never, { headers })) as unknown as typeof globalThis.fetch;
  const limited = createLimitedFetch(gate, { clock, fetch });
  const { body } = await limited(url, { method: "POST", body: JSON.stringify({ model: "m", stream: true }) });
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  return { clock, gate, reader };
}

test.each([
  ["OpenAI's chat", CHAT, ['{"usage":{"prompt_tokens":3,"completion_tokens":4}}', "[DONE]"]],
  [
    "the Responses API",
    RESPONSES,
    [
      '{"type":"response.output_text.delta"}',
      '{"type":"response.completed","response":{"usage":{"input_tokens":3,"output_tokens":4}}}',
    ],
  ],
  [
    "Anthropic",
    MESSAGES,
    [
      '{"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}',
      '{"type":"message_delta","usage":{"output_tokens":4}}',
      '{"type":"message_stop"}',
    ],
  ],
  [
    "Gemini",
    GEMINI,
    ['{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4}}'],
  ],
])("the lease of a stream of %s ends at its last event, although nobody reads on", async (_name, url, events) => {
  const { gate, reader } = await openStream(url, events);
  for (const [i] of events.entries()) {
    expect(gate.endings).toEqual([undefined]);
    await reader.read();
    if (i === events.length - 1)
      expect(gate.endings).toMatchObject([{ how: "done", used: { inputTokens: 3, outputTokens: 4 } }]);
  }
});

test("the lease of a stream that nobody reads ends a bounded time after its last event", async () => {
  const { clock, gate } = await openStream(CHAT, ['{"usage":{"prompt_tokens":3,"completion_tokens":4}}', "[DONE]"]);
  await clock.run(9_999);
  expect(gate.endings).toEqual([undefined]);
  await clock.run(1);
  expect(gate.endings).toMatchObject([{ how: "done", used: { tokens: 7 } }]);
});

test("Google's SDK tells its timeout in a header of its own, and the wait stays below it", async () => {
  const clock = new ManualClock();
  const gate = new LocalGate({ clock });
  const fetch = (async () => new Response("{}")) as unknown as typeof globalThis.fetch;
  const limited = createLimitedFetch(gate, { clock, fetch });
  await limited(GEMINI, { method: "POST", headers: { "x-server-timeout": "10" }, body: "{}" });
  expect(gate.granted[0]?.request.timeoutMs).toBe(8_000);
});
