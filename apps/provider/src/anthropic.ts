import { type Call, type Protocol, type StreamEvent, WORD } from "./protocol.ts";

const usageOf = ({ inputTokens }: Call, outputTokens: number) => ({
  input_tokens: inputTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: outputTokens,
});

const messageOf = (call: Call, content: readonly unknown[], stopReason: string | null, outputTokens: number) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: call.model,
  content,
  stop_reason: stopReason,
  stop_sequence: null,
  usage: usageOf(call, outputTokens),
});

const errorBody = (type: string, message: string, details?: unknown) => ({
  type: "error",
  error: { type, message, ...(details === undefined ? {} : { details }) },
});

/** Anthropic's Messages API. */
export const anthropic: Protocol = {
  name: "anthropic",

  read: (path, body) =>
    path.endsWith("/messages")
      ? { model: String(body["model"] ?? "claude"), isStream: body["stream"] === true }
      : undefined,

  maxTokens: (body) => (typeof body["max_tokens"] === "number" ? body["max_tokens"] : undefined),

  limitHeaders: ({ requests, tokens }, epochMs) => {
    const headers: Record<string, string> = {};
    for (const [name, state] of Object.entries({ requests, tokens })) {
      if (state === undefined) continue;
      // The provider rounds reset times up to whole seconds.
      const resetAt = new Date(Math.ceil((epochMs + state.resetMs) / 1_000) * 1_000);
      headers[`anthropic-ratelimit-${name}-limit`] = String(state.limit);
      headers[`anthropic-ratelimit-${name}-remaining`] = String(state.remaining);
      headers[`anthropic-ratelimit-${name}-reset`] = resetAt.toISOString().replace(".000Z", "Z");
    }
    return headers;
  },

  complete: (call) =>
    messageOf(call, [{ type: "text", text: WORD.repeat(call.outputTokens) }], "end_turn", call.outputTokens),

  events: (call) => {
    const event = (type: string, fields: object): StreamEvent => ({
      event: type,
      data: JSON.stringify({ type, ...fields }),
    });
    const words = Array.from({ length: call.outputTokens }, () =>
      event("content_block_delta", { index: 0, delta: { type: "text_delta", text: WORD } }),
    );
    return [
      event("message_start", { message: messageOf(call, [], null, 1) }),
      event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
      ...words,
      event("content_block_stop", { index: 0 }),
      event("message_delta", {
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: call.outputTokens },
      }),
      event("message_stop", {}),
    ];
  },

  overloadEvent: () => ({ event: "error", data: JSON.stringify(errorBody("overloaded_error", "Overloaded")) }),

  tooMany: ({ limitedBy, retryAfterMs }) => {
    if (retryAfterMs === Infinity) {
      const message = "Request too large: it exceeds the maximum size of your rate limit";
      return { status: 413, headers: {}, body: errorBody("request_too_large", message) };
    }
    const message = `This request would exceed your organization's rate limit of ${limitedBy} per minute`;
    const headers = { "retry-after": String(Math.ceil(retryAfterMs / 1_000)) };
    return { status: 429, headers, body: errorBody("rate_limit_error", message) };
  },

  overloaded: () => ({ status: 529, headers: {}, body: errorBody("overloaded_error", "Overloaded") }),

  spent: () => ({
    status: 429,
    headers: {},
    body: errorBody("rate_limit_error", "monthly threshold", { error_code: "enforced_spend_limit_reached" }),
  }),
};
