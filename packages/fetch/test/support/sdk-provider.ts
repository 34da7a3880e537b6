import { streamOfBedrock } from "./aws-events.ts";

/** Answers of every protocol, as a `fetch`: a refusal or an answer of three words, whose usage is 20 + 3 tokens. */
export const ANSWER = "bee bee bee";

const WORDS = ["bee ", "bee ", "bee"];

/** Refuses the first requests, this number of them. */
export function providerFetch(refusals: number): { fetch: typeof globalThis.fetch; calls: () => number } {
  let calls = 0;
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    calls++;
    const url = new URL(input instanceof Request ? input.url : String(input));
    const body = await new Response(input instanceof Request ? input.clone().body : init?.body).text();
    return calls <= refusals ? refusal() : answer(url, isStream(url, body));
  };
  return { fetch: fetch as typeof globalThis.fetch, calls: () => calls };
}

function isStream({ pathname }: URL, body: string): boolean {
  return /stream/i.test(pathname) || (JSON.parse(body) as { stream?: boolean }).stream === true;
}

function refusal(): Response {
  const error = { type: "rate_limit_error", code: "rate_limit_exceeded", message: "Rate limit reached" };
  return json({ type: "error", error, message: error.message }, 429);
}

/** A protocol: the paths that speak it, its document, and its stream. */
interface Protocol {
  readonly path: RegExp;
  readonly document: unknown;
  readonly stream: () => Response;
}

const gemini = (text: string, more: object = {}) => ({
  candidates: [{ content: { role: "model", parts: [{ text }] }, ...more }],
  usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 3, totalTokenCount: 23 },
});

const MESSAGE = {
  id: "m",
  type: "message",
  role: "assistant",
  model: "claude-x",
  content: [{ type: "text", text: ANSWER }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 20, output_tokens: 3 },
};

const MESSAGE_EVENTS = [
  { type: "message_start", message: { ...MESSAGE, content: [], stop_reason: null } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  ...WORDS.map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 3 } },
  { type: "message_stop" },
];

const ollama = (content: string, more: object = {}) => ({
  model: "llama-x",
  created_at: new Date(0).toISOString(),
  message: { role: "assistant", content },
  done: false,
  ...more,
});
const OLLAMA_END = { done: true, done_reason: "stop", prompt_eval_count: 20, eval_count: 3 };

const COHERE_USAGE = { tokens: { input_tokens: 20, output_tokens: 3 } };

const CHAT_USAGE = { prompt_tokens: 20, completion_tokens: 3, total_tokens: 23 };
const chunk = (choices: unknown, more: object = {}) => ({
  id: "c",
  object: "chat.completion.chunk",
  created: 0,
  model: "x",
  choices,
  ...more,
});

/** An answer of OpenAI's Responses API; `output` is empty until it is complete. */
const responseOf = (status: string, more: object = {}) => ({
  id: "r",
  object: "response",
  created_at: 0,
  status,
  model: "gpt-x",
  output: [],
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: "auto",
  tools: [],
  top_p: 1,
  ...more,
});
const itemOf = (status: string, content: readonly object[]) => ({
  id: "m",
  type: "message",
  role: "assistant",
  status,
  content,
});
const OUTPUT_TEXT = { type: "output_text", text: ANSWER, annotations: [] };
const RESPONSE = responseOf("completed", {
  output: [itemOf("completed", [OUTPUT_TEXT])],
  usage: {
    input_tokens: 20,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 3,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 23,
  },
});
const AT = { item_id: "m", output_index: 0, content_index: 0 };
const RESPONSE_EVENTS = [
  { type: "response.created", response: responseOf("in_progress") },
  { type: "response.output_item.added", output_index: 0, item: itemOf("in_progress", []) },
  { type: "response.content_part.added", ...AT, part: { ...OUTPUT_TEXT, text: "" } },
  ...WORDS.map((delta) => ({ type: "response.output_text.delta", ...AT, delta, logprobs: [] })),
  { type: "response.output_text.done", ...AT, text: ANSWER, logprobs: [] },
  { type: "response.content_part.done", ...AT, part: OUTPUT_TEXT },
  { type: "response.output_item.done", output_index: 0, item: itemOf("completed", [OUTPUT_TEXT]) },
  { type: "response.completed", response: RESPONSE },
].map((event, index) => ({ ...event, sequence_number: index }));

const PROTOCOLS: readonly Protocol[] = [
  {
    path: /:(?:streamG|g)enerateContent$/,
    document: gemini(ANSWER, { finishReason: "STOP" }),
    stream: () => sse([gemini("bee "), gemini("bee "), gemini("bee", { finishReason: "STOP" })]),
  },
  { path: /\/invoke-with-response-stream$/, document: undefined, stream: () => streamOfBedrock(MESSAGE_EVENTS) },
  {
    path: /\/(?:messages|invoke)$|:(?:rawP|streamRawP)redict$/,
    document: MESSAGE,
    stream: () => sse(MESSAGE_EVENTS, ({ type }) => type),
  },
  { path: /\/responses$/, document: RESPONSE, stream: () => sse(RESPONSE_EVENTS, ({ type }) => type) },
  {
    path: /^\/v2\/chat$/,
    document: {
      id: "c",
      finish_reason: "COMPLETE",
      message: { role: "assistant", content: [{ type: "text", text: ANSWER }] },
      usage: COHERE_USAGE,
    },
    stream: () =>
      sse([
        { type: "message-start", id: "c", delta: { message: { role: "assistant" } } },
        ...WORDS.map((text) => ({ type: "content-delta", index: 0, delta: { message: { content: { text } } } })),
        { type: "message-end", delta: { finish_reason: "COMPLETE", usage: COHERE_USAGE } },
      ]),
  },
  {
    path: /^\/api\/chat$/,
    document: ollama(ANSWER, OLLAMA_END),
    stream: () => lines([...WORDS.map((text) => ollama(text)), ollama("", OLLAMA_END)]),
  },
  {
    path: /./,
    document: {
      id: "c",
      object: "chat.completion",
      created: 0,
      model: "x",
      choices: [{ index: 0, message: { role: "assistant", content: ANSWER }, finish_reason: "stop" }],
      usage: CHAT_USAGE,
    },
    stream: () =>
      sse([
        ...WORDS.map((content) => chunk([{ index: 0, delta: { role: "assistant", content }, finish_reason: null }])),
        chunk([{ index: 0, delta: {}, finish_reason: "stop" }]),
        chunk([], { usage: CHAT_USAGE }),
        "[DONE]",
      ]),
  },
];

function answer({ pathname }: URL, isStreamed: boolean): Response {
  const { document, stream } = PROTOCOLS.find(({ path }) => path.test(pathname)) as Protocol;
  return isStreamed ? stream() : json(document);
}

function sse<E>(events: readonly (E | "[DONE]")[], nameOf?: (event: E) => string): Response {
  const text = events
    .map((event) => {
      if (event === "[DONE]") return "data: [DONE]\n\n";
      const name = nameOf === undefined ? "" : `event: ${nameOf(event)}\n`;
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    })
    .join("");
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

function lines(parts: readonly unknown[]): Response {
  const text = parts.map((part) => `${JSON.stringify(part)}\n`).join("");
  return new Response(text, { headers: { "content-type": "application/x-ndjson" } });
}

function json(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
}
