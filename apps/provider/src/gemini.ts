import { type Call, type Protocol, WORD } from "./protocol.ts";

const PATH = /\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;

const answerOf = (call: Call, text: string, finishReason: string | undefined, outputTokens: number) => ({
  candidates: [
    {
      index: 0,
      content: { role: "model", parts: [{ text }] },
      ...(finishReason === undefined ? {} : { finishReason }),
    },
  ],
  usageMetadata: {
    promptTokenCount: call.inputTokens,
    candidatesTokenCount: outputTokens,
    totalTokenCount: call.inputTokens + outputTokens,
  },
  modelVersion: call.model,
});

const errorBody = (code: number, status: string, message: string, details: readonly unknown[] = []) => ({
  error: { code, message, status, ...(details.length > 0 ? { details } : {}) },
});

/** The Gemini API. Gemini sends no rate-limit headers; errors carry all information. */
export const gemini: Protocol = {
  name: "gemini",

  read: (path) => {
    const [, model, method] = PATH.exec(path) ?? [];
    return model === undefined ? undefined : { model, isStream: method === "streamGenerateContent" };
  },

  maxTokens: (body) => {
    const config = body["generationConfig"] as { maxOutputTokens?: unknown } | undefined;
    return typeof config?.maxOutputTokens === "number" ? config.maxOutputTokens : undefined;
  },

  limitHeaders: () => ({}),

  complete: (call) => answerOf(call, WORD.repeat(call.outputTokens), "STOP", call.outputTokens),

  events: (call) =>
    Array.from({ length: call.outputTokens }, (_, i) => {
      const isLast = i === call.outputTokens - 1;
      return { data: JSON.stringify(answerOf(call, WORD, isLast ? "STOP" : undefined, i + 1)) };
    }),

  overloadEvent: () => ({ data: JSON.stringify(errorBody(503, "UNAVAILABLE", "The model is overloaded.")) }),

  tooMany: ({ limitedBy, retryAfterMs }) => {
    if (retryAfterMs === Infinity)
      return { status: 400, headers: {}, body: errorBody(400, "INVALID_ARGUMENT", "The input is too long") };
    const quotaId =
      limitedBy === "requests"
        ? "GenerateRequestsPerMinutePerProjectPerModel"
        : "GenerateContentInputTokensPerModelPerMinute";
    const details = [
      { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId }] },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${Math.ceil(retryAfterMs) / 1_000}s` },
    ];
    const body = errorBody(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota", details);
    return { status: 429, headers: {}, body };
  },

  overloaded: () => ({ status: 503, headers: {}, body: errorBody(503, "UNAVAILABLE", "The model is overloaded.") }),

  spent: () => ({
    status: 402,
    headers: {},
    body: errorBody(402, "FAILED_PRECONDITION", "Billing is not active for this project"),
  }),
};
