import { type Call, goDuration, type Protocol, type StreamEvent, WORD } from "./protocol.ts";

const CREATED = 1_700_000_000;

const usageOf = ({ inputTokens, outputTokens }: Call) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
});

/** OpenAI's chat completions. A stream ends with its usage when `stream_options.include_usage` asks for it. */
export const openai: Protocol = {
  name: "openai",

  read: (path, body) =>
    path.endsWith("/chat/completions")
      ? {
          model: String(body["model"] ?? "gpt"),
          isStream: body["stream"] === true,
          tellsUsage: (body["stream_options"] as { include_usage?: unknown } | undefined)?.include_usage === true,
        }
      : undefined,

  maxTokens: (body) => {
    const limit = body["max_completion_tokens"] ?? body["max_tokens"];
    return typeof limit === "number" ? limit : undefined;
  },

  limitHeaders: ({ requests, tokens }) => {
    const headers: Record<string, string> = {};
    for (const [name, state] of Object.entries({ requests, tokens })) {
      if (state === undefined) continue;
      headers[`x-ratelimit-limit-${name}`] = String(state.limit);
      headers[`x-ratelimit-remaining-${name}`] = String(state.remaining);
      headers[`x-ratelimit-reset-${name}`] = goDuration(state.resetMs);
    }
    return headers;
  },

  complete: (call) => ({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: CREATED,
    model: call.model,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: WORD.repeat(call.outputTokens), refusal: null },
        finish_reason: "stop",
        logprobs: null,
      },
    ],
    usage: usageOf(call),
  }),

  events: (call) => {
    const chunk = (choices: unknown, usage: unknown = null): StreamEvent => ({
      data: JSON.stringify({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        created: CREATED,
        model: call.model,
        choices,
        usage,
      }),
    });
    const words = Array.from({ length: call.outputTokens }, () =>
      chunk([{ index: 0, delta: { role: "assistant", content: WORD }, finish_reason: null }]),
    );
    const end = chunk([{ index: 0, delta: {}, finish_reason: "stop" }]);
    const usage = call.tellsUsage === false ? [] : [chunk([], usageOf(call))];
    return [...words, end, ...usage, { data: "[DONE]" }];
  },

  overloadEvent: () => ({
    data: JSON.stringify({
      error: { message: "The server is overloaded", type: "server_error", code: "server_is_overloaded" },
    }),
  }),

  tooMany: ({ limitedBy, retryAfterMs }) => {
    if (retryAfterMs === Infinity) {
      const message = "Request too large on tokens per min (TPM): the input or output tokens must be reduced.";
      return { status: 429, headers: {}, body: { error: { message, type: "tokens", code: "rate_limit_exceeded" } } };
    }
    const message = `Rate limit reached on ${limitedBy} per min. Please try again in ${goDuration(retryAfterMs)}.`;
    return {
      status: 429,
      headers: {
        "retry-after-ms": String(Math.ceil(retryAfterMs)),
        "retry-after": String(Math.ceil(retryAfterMs / 1_000)),
      },
      body: { error: { message, type: limitedBy, param: null, code: "rate_limit_exceeded" } },
    };
  },

  overloaded: () => ({
    status: 503,
    headers: {},
    body: { error: { message: "The engine is currently overloaded, please try again later", type: "server_error" } },
  }),

  spent: () => ({
    status: 429,
    headers: {},
    body: {
      error: {
        message: "You exceeded your current quota, please check your plan and billing details.",
        type: "insufficient_quota",
        code: "insufficient_quota",
      },
    },
  }),
};
