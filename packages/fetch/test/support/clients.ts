import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { Anthropic } from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import type { Clock, Gate } from "@hivepace/core";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, streamText, wrapLanguageModel } from "ai";
import { OpenAI } from "openai";
import { hivepaceMiddleware as modelMiddleware } from "../../src/ai-sdk.ts";
import { hivepaceMiddleware as anthropicMiddleware } from "../../src/anthropic.ts";
import { createLimitedFetch } from "../../src/index.ts";
import { collect } from "./streams.ts";

/** The answer of the fake provider: the same word sixteen times. */
export const ANSWER = "bee ".repeat(16);
export const PROMPT = "What do bees do all day?";

/** One call of a client; `maxRetries` undefined is the SDK's own default. */
type Ask = (maxRetries?: number) => Promise<string>;

export interface Client {
  readonly name: string;
  /**
   * "header": heeds x-should-retry. "none": does not retry. "mark": the test marks the answer. "set": must be set to 0.
   */
  readonly retries: "header" | "none" | "mark" | "set";
  readonly ask: Ask;
  readonly stream: Ask;
}

export interface Place {
  readonly gate: Gate;
  readonly url: string;
  readonly clock: Clock;
}

/** As users write them, on a local provider. Quick retries, or the tests would wait as users do. */
export function clientsOf({ gate, url, clock }: Place): readonly Client[] {
  const options = { baseDelayMs: 5, clock };
  const endpoint = { endpoint: "provider", ...options };
  const fetch = createLimitedFetch(gate, endpoint);
  const openai = (maxRetries?: number) =>
    new OpenAI({
      apiKey: "k",
      baseURL: `${url}/v1`,
      fetch,
      ...(maxRetries === undefined ? {} : { maxRetries }),
    });
  const anthropic = (maxRetries?: number) =>
    new Anthropic({ apiKey: "k", baseURL: url, fetch, ...(maxRetries === undefined ? {} : { maxRetries }) });
  const withMiddleware = () =>
    new Anthropic({ apiKey: "k", baseURL: url, middleware: [anthropicMiddleware(gate, endpoint)] });
  const google = () => new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: url, fetch } });
  const retrying = (maxRetries?: number) => (maxRetries === undefined ? {} : { maxRetries });
  const messages = [{ role: "user" as const, content: PROMPT }];
  const chat = { model: "gpt-x", messages };
  const streamed = { stream: true, stream_options: { include_usage: true } } as const;
  const message = { model: "claude-x", max_tokens: 64, messages };
  const content = { model: "gemini-x", contents: PROMPT };
  const aiOpenAI = () => createOpenAI({ apiKey: "k", baseURL: `${url}/v1`, fetch }).chat("gpt-x");
  const aiAnthropic = () => createAnthropic({ apiKey: "k", baseURL: `${url}/v1`, fetch })("claude-x");
  const wrapped = () =>
    wrapLanguageModel({
      model: createOpenAI({ apiKey: "k", baseURL: `${url}/v1` }).chat("gpt-x"),
      middleware: modelMiddleware(gate, endpoint),
    });
  const langchain = (maxRetries?: number) =>
    new ChatOpenAI({
      apiKey: "k",
      model: "gpt-x",
      configuration: { baseURL: `${url}/v1`, fetch },
      ...retrying(maxRetries),
    });
  const streamOf = async (model: Parameters<typeof streamText>[0]["model"], maxRetries?: number) => {
    let failure: unknown;
    const { textStream } = streamText({
      model,
      prompt: PROMPT,
      maxOutputTokens: 64,
      ...retrying(maxRetries),
      onError: ({ error }) => {
        failure = error;
      },
    });
    const text = await collect(textStream, (part) => part);
    if (failure !== undefined) throw failure;
    return text;
  };
  return [
    {
      name: "openai",
      retries: "header",
      ask: async (retries) => (await openai(retries).chat.completions.create(chat)).choices[0]?.message.content ?? "",
      stream: async (retries) =>
        collect(
          await openai(retries).chat.completions.create({ ...chat, ...streamed }),
          (chunk) => chunk.choices[0]?.delta.content,
        ),
    },
    {
      name: "@anthropic-ai/sdk",
      retries: "header",
      ask: async (retries) => textOf((await anthropic(retries).messages.create(message)).content),
      stream: async (retries) => textOf((await anthropic(retries).messages.stream(message).finalMessage()).content),
    },
    {
      name: "@anthropic-ai/sdk with the middleware",
      retries: "header",
      ask: async () => textOf((await withMiddleware().messages.create(message)).content),
      stream: async () => textOf((await withMiddleware().messages.stream(message).finalMessage()).content),
    },
    {
      name: "@google/genai",
      retries: "none",
      ask: async () => (await google().models.generateContent(content)).text ?? "",
      stream: async () => collect(await google().models.generateContentStream(content), (chunk) => chunk.text),
    },
    {
      name: "ai with @ai-sdk/openai",
      retries: "set",
      ask: async (retries) =>
        (await generateText({ model: aiOpenAI(), prompt: PROMPT, maxOutputTokens: 64, ...retrying(retries) })).text,
      stream: (retries) => streamOf(aiOpenAI(), retries),
    },
    {
      name: "ai with @ai-sdk/anthropic",
      retries: "set",
      ask: async (retries) =>
        (await generateText({ model: aiAnthropic(), prompt: PROMPT, maxOutputTokens: 64, ...retrying(retries) })).text,
      stream: (retries) => streamOf(aiAnthropic(), retries),
    },
    {
      name: "ai with the middleware",
      retries: "mark",
      ask: async (retries) =>
        (await generateText({ model: wrapped(), prompt: PROMPT, maxOutputTokens: 64, ...retrying(retries) })).text,
      stream: (retries) => streamOf(wrapped(), retries),
    },
    {
      name: "@langchain/openai",
      retries: "set",
      ask: async (retries) => (await langchain(retries).invoke(PROMPT)).text,
      stream: async (retries) => collect(await langchain(retries).stream(PROMPT), (chunk) => chunk.text),
    },
    {
      name: "bare fetch",
      retries: "none",
      ask: async () => {
        const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(chat) });
        if (!response.ok) throw new Error(`${response.status}`);
        return ((await response.json()) as OpenAI.ChatCompletion).choices[0]?.message.content ?? "";
      },
      stream: async () => {
        const response = await fetch(`${url}/v1/chat/completions`, {
          method: "POST",
          body: JSON.stringify({ ...chat, ...streamed }),
        });
        const text = await response.text();
        return [...text.matchAll(/"content":"(bee )"/g)].map(([, word]) => word).join("");
      },
    },
  ];
}

function textOf(content: readonly { type: string; text?: string }[]): string {
  return content.map(({ text = "" }) => text).join("");
}

export const names = [
  "openai",
  "@anthropic-ai/sdk",
  "@anthropic-ai/sdk with the middleware",
  "@google/genai",
  "ai with @ai-sdk/openai",
  "ai with @ai-sdk/anthropic",
  "ai with the middleware",
  "@langchain/openai",
  "bare fetch",
];
