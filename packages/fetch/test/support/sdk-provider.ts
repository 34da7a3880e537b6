/** Answers of every protocol, as a `fetch`: a refusal or an answer of three words, whose usage is 20 + 3 tokens. */
export const ANSWER = "bee bee bee";

/** Refuses the first requests, this number of them. */
export function providerFetch(refusals: number): { fetch: typeof globalThis.fetch; calls: () => number } {
  let calls = 0;
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    calls++;
    const url = new URL(input instanceof Request ? input.url : String(input));
    // Some SDKs read the body of what they sent.
    if (input instanceof Request) await input.clone().text();
    void init;
    return calls <= refusals ? refusal() : answer(url);
  };
  return { fetch: fetch as typeof globalThis.fetch, calls: () => calls };
}

function refusal(): Response {
  const error = { type: "rate_limit_error", code: "rate_limit_exceeded", message: "Rate limit reached" };
  return json({ type: "error", error, message: error.message }, 429);
}

function answer({ pathname }: URL): Response {
  if (/:generateContent$/.test(pathname))
    return json({
      candidates: [{ content: { role: "model", parts: [{ text: ANSWER }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 3, totalTokenCount: 23 },
    });
  if (/\/(?:messages|invoke)$|:rawPredict$/.test(pathname))
    return json({
      id: "m",
      type: "message",
      role: "assistant",
      model: "claude-x",
      content: [{ type: "text", text: ANSWER }],
      stop_reason: "end_turn",
      usage: { input_tokens: 20, output_tokens: 3 },
    });
  if (pathname === "/v2/chat")
    return json({
      id: "c",
      finish_reason: "COMPLETE",
      message: { role: "assistant", content: [{ type: "text", text: ANSWER }] },
      usage: { tokens: { input_tokens: 20, output_tokens: 3 } },
    });
  if (pathname === "/api/chat")
    return json({
      model: "llama-x",
      created_at: new Date(0).toISOString(),
      message: { role: "assistant", content: ANSWER },
      done: true,
      prompt_eval_count: 20,
      eval_count: 3,
    });
  return json({
    id: "c",
    object: "chat.completion",
    created: 0,
    model: "x",
    choices: [{ index: 0, message: { role: "assistant", content: ANSWER }, finish_reason: "stop" }],
    usage: { prompt_tokens: 20, completion_tokens: 3, total_tokens: 23 },
  });
}

function json(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
}
