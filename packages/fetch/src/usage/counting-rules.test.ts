import { describe, expect, test } from "vitest";
import { readCall } from "../call/call-facts.ts";
import { countedUsage, usageOf } from "./reported-usage.ts";
import { TokenEstimator } from "./token-estimator.ts";

const body = JSON.stringify({ model: "m", input: "x".repeat(4_000), max_tokens: 500 });

describe("calls that use no tokens", () => {
  test.each([
    ["POST", "/v1/messages/count_tokens"],
    ["POST", "/v1/responses/input_tokens"],
    ["POST", "/v1beta/models/g:countTokens"],
    ["POST", "/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict"],
    ["POST", "/v1/moderations"],
    ["POST", "/v1/audio/speech"],
    ["POST", "/v1/files"],
    ["POST", "/v1/uploads/u/parts"],
    ["POST", "/v1/messages/batches"],
    ["GET", "/v1/responses/resp_1"],
    ["DELETE", "/v1/chat/completions/c"],
  ])("%s %s", (method, path) => {
    expect(new TokenEstimator().estimate("openai", readCall(path, body, method)).tokens).toBe(0);
  });

  test("a chat uses tokens", () => {
    expect(new TokenEstimator().estimate("openai", readCall("/v1/chat/completions", body)).tokens).toBeGreaterThan(
      1_000,
    );
  });
});

test("Bedrock counts the output of newer Anthropic models five times, and that of others once", () => {
  const usage = { freshInput: 100, cacheRead: 50, cacheWrite: 10, output: 20 };
  const tokens = (model: string) => countedUsage("bedrock", usage, { model }).tokens;
  expect(tokens("us.anthropic.claude-sonnet-4-20250514-v1:0")).toBe(110 + 5 * 20);
  expect(tokens("anthropic.claude-3-7-sonnet-20250219-v1:0")).toBe(110 + 5 * 20);
  expect(tokens("anthropic.claude-3-5-sonnet-20240620-v1:0")).toBe(110 + 20);
  expect(tokens("amazon.nova-pro-v1:0")).toBe(110 + 20);
});

test("Anthropic's models on Vertex AI are read and counted as Anthropic's, Google's as Google's", () => {
  const path = "/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4@20250514:streamRawPredict";
  const facts = readCall(path, JSON.stringify({ messages: [], max_tokens: 9 }));
  expect([facts.protocol, facts.model]).toEqual(["anthropic", "claude-sonnet-4@20250514"]);
  const usage = { freshInput: 10, cacheRead: 90, output: 5 };
  expect(countedUsage("vertex", usage, facts)).toMatchObject({ tokens: 15, inputTokens: 10 });
  expect(countedUsage("vertex", usage, { protocol: "gemini" })).toMatchObject({ tokens: 100, inputTokens: 100 });
});

describe("reasoning is output", () => {
  test.each([
    ["in the output (OpenAI)", { prompt_tokens: 10, completion_tokens: 30, total_tokens: 40 }, 30],
    ["only in the total (xAI)", { prompt_tokens: 10, completion_tokens: 5, total_tokens: 40 }, 30],
  ])("%s", (_name, usage, output) => {
    expect(usageOf({ usage })?.output).toBe(output);
  });

  test("without an answer (Gemini)", () => {
    const usageMetadata = { promptTokenCount: 10, thoughtsTokenCount: 30, totalTokenCount: 40 };
    expect(usageOf({ usageMetadata })).toEqual({ freshInput: 10, output: 30 });
  });
});

test.each([
  ["Cohere", { usage: { billed_units: { input_tokens: 1 }, tokens: { input_tokens: 8, output_tokens: 3 } } }],
  ["Cohere's stream", { type: "message-end", delta: { usage: { tokens: { input_tokens: 8, output_tokens: 3 } } } }],
  ["Ollama", { done: true, prompt_eval_count: 8, eval_count: 3 }],
  ["Llama on Bedrock", { generation: "x", prompt_token_count: 8, generation_token_count: 3 }],
])("the usage of %s is found", (_name, payload) => {
  expect(usageOf(payload)).toEqual({ freshInput: 8, output: 3 });
});
