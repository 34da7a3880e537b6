const BYTES_PER_TOKEN = 4;
const MOST_ANSWER_TOKENS = 48;
/** The fraction of a call's tokens that belongs to the answer. */
const ANSWER_PART = 0.1;

export interface ChatRequest {
  readonly url: string;
  readonly init: { readonly method: string; readonly headers: Readonly<Record<string, string>>; readonly body: string };
  /** The tokens that the provider counts: the body, and the answer in full. */
  readonly tokens: number;
}

/** Returns a chat completion request of about `wanted` tokens, in OpenAI's protocol. */
export function chatRequest(providerUrl: string, agentId: string, wanted: number, isStream: boolean): ChatRequest {
  const answer = Math.max(1, Math.min(MOST_ANSWER_TOKENS, Math.round(ANSWER_PART * wanted)));
  const body = (prompt: string): string =>
    JSON.stringify({
      model: "gpt-demo",
      max_completion_tokens: answer,
      ...(isStream && { stream: true, stream_options: { include_usage: true } }),
      messages: [{ role: "user", content: prompt }],
    });
  const promptBytes = Math.max(1, (wanted - answer) * BYTES_PER_TOKEN - body("").length);
  const text = body("x".repeat(promptBytes));
  return {
    url: `${providerUrl}/v1/chat/completions`,
    init: { method: "POST", headers: { "content-type": "application/json", "x-agent": agentId }, body: text },
    tokens: Math.ceil(text.length / BYTES_PER_TOKEN) + answer,
  };
}
