import {
  type Completion,
  chat,
  clientOptions,
  completion,
  type Fetch,
  limited,
  messageText,
  PROMPT,
  requestOptions,
  type SdkCall,
  type SdkRow,
} from "./sdk-call.ts";
import { AI_ROWS } from "./sdk-rows-of-ai.ts";
import { collect } from "./streams.ts";

type OpenAiSdk = typeof import("openai");
type AnthropicSdk = typeof import("@anthropic-ai/sdk");
type GenAiSdk = typeof import("@google/genai");

/** The client's timeout stands in a header only at Anthropic's SDKs; that of one request does at all of them. */
const ofOpenAI = { retries: "header", timeout: "signal" } as const;
const ofAnthropic = { retries: "header", timeout: "header" } as const;

const openai = (installed: string, load: () => Promise<OpenAiSdk>): SdkRow => ({
  sdk: "openai",
  installed,
  where: "`new OpenAI({ fetch })`",
  ...ofOpenAI,
  model: "gpt-x",
  ask: async (call) => {
    const { OpenAI } = await load();
    return completion(new OpenAI({ apiKey: "k", ...clientOptions(call) }), "gpt-x", call);
  },
});

const responses = (installed: string, load: () => Promise<OpenAiSdk>): SdkRow => ({
  ...openai(installed, load),
  sdk: "openai, Responses API",
  ask: async (call) => {
    const { OpenAI } = await load();
    const client = new OpenAI({ apiKey: "k", ...clientOptions(call) });
    const request = { model: "gpt-x", input: PROMPT };
    if (!call.isStream) return (await client.responses.create(request, requestOptions(call))).output_text;
    const events = await client.responses.create({ ...request, stream: true }, requestOptions(call));
    return collect(events, (event) => (event.type === "response.output_text.delta" ? event.delta : undefined));
  },
});

const anthropic = (installed: string, load: () => Promise<AnthropicSdk>): SdkRow => ({
  sdk: "@anthropic-ai/sdk",
  installed,
  where: "`new Anthropic({ fetch })`",
  ...ofAnthropic,
  model: "claude-x",
  ask: async (call) => {
    const { Anthropic } = await load();
    return messageText(new Anthropic({ apiKey: "k", ...clientOptions(call) }), call);
  },
});

const genai = (installed: string, load: () => Promise<GenAiSdk>): SdkRow => ({
  sdk: "@google/genai",
  installed,
  where: "`new GoogleGenAI({ httpOptions: { fetch } })`",
  retries: "none",
  timeout: "header",
  model: "gemini-x",
  ask: async (call) => generate(await load(), call, { fetch: limited(call) }),
});

async function generate({ GoogleGenAI }: GenAiSdk, call: SdkCall, httpOptions: { fetch?: Fetch }): Promise<string> {
  const { isStream, signal, timeoutMs } = call;
  const options = { ...httpOptions, ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }) };
  const { models } = new GoogleGenAI({ apiKey: "k", httpOptions: options as never });
  const config = signal === undefined ? {} : { abortSignal: signal };
  const request = { model: "gemini-x", contents: PROMPT, config };
  if (!isStream) return (await models.generateContent(request)).text ?? "";
  return collect(await models.generateContentStream(request), ({ text }) => text);
}

export const SDKS: readonly SdkRow[] = [
  openai("openai-5", () => import("openai-5") as unknown as Promise<OpenAiSdk>),
  openai("openai", () => import("openai")),
  openai("openai-7", () => import("openai-7") as unknown as Promise<OpenAiSdk>),
  responses("openai-5", () => import("openai-5") as unknown as Promise<OpenAiSdk>),
  responses("openai", () => import("openai")),
  responses("openai-7", () => import("openai-7") as unknown as Promise<OpenAiSdk>),
  {
    sdk: "openai, AzureOpenAI",
    installed: "openai",
    where: "`new AzureOpenAI({ fetch })`",
    ...ofOpenAI,
    model: "gpt-x",
    ask: async (call) => {
      const { AzureOpenAI } = await import("openai");
      const place = { apiKey: "k", endpoint: "https://x.openai.azure.com", apiVersion: "1" };
      return completion(new AzureOpenAI({ ...place, ...clientOptions(call) }), "gpt-x", call);
    },
  },
  {
    sdk: "@openai/agents",
    installed: "@openai/agents",
    where: "`new OpenAIProvider({ openAIClient: new OpenAI({ fetch }) })`",
    ...ofOpenAI,
    model: "gpt-x",
    ask: async (call) => {
      const { Agent, OpenAIProvider, Runner, setTracingDisabled } = await import("@openai/agents");
      const { OpenAI } = await import("openai");
      setTracingDisabled(true);
      const openAIClient = new OpenAI({ apiKey: "k", ...clientOptions(call) }) as never;
      const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient }) });
      const bee = new Agent({ name: "bee", instructions: "Be a bee.", model: "gpt-x" });
      const options = requestOptions(call);
      if (!call.isStream) return String((await runner.run(bee, PROMPT, options)).finalOutput ?? "");
      const result = await runner.run(bee, PROMPT, { ...options, stream: true });
      const text = await collect(result.toTextStream() as unknown as AsyncIterable<string>, (part) => part);
      await result.completed;
      return text;
    },
  },
  anthropic("anthropic-sdk-0", () => import("anthropic-sdk-0") as unknown as Promise<AnthropicSdk>),
  anthropic("@anthropic-ai/sdk", () => import("@anthropic-ai/sdk")),
  {
    sdk: "@anthropic-ai/bedrock-sdk",
    installed: "@anthropic-ai/bedrock-sdk",
    where: "`new AnthropicBedrock({ fetch })`",
    ...ofAnthropic,
    model: "claude-x",
    ask: async (call) => {
      const { AnthropicBedrock } = await import("@anthropic-ai/bedrock-sdk");
      const keys = { awsAccessKey: "k", awsSecretKey: "s", awsRegion: "eu-central-1" };
      return messageText(new AnthropicBedrock({ ...keys, ...clientOptions(call) } as never), call);
    },
  },
  {
    sdk: "@anthropic-ai/vertex-sdk",
    installed: "@anthropic-ai/vertex-sdk",
    where: "`new AnthropicVertex({ fetch })`",
    ...ofAnthropic,
    model: "claude-x",
    ask: async (call) => {
      const { AnthropicVertex } = await import("@anthropic-ai/vertex-sdk");
      const authClient = { getRequestHeaders: async () => new Headers({ authorization: "Bearer k" }), projectId: "p" };
      const place = { region: "europe-west1", projectId: "p", authClient };
      return messageText(new AnthropicVertex({ ...place, ...clientOptions(call) } as never), call);
    },
  },
  {
    ...genai("genai-1", () => import("genai-1") as unknown as Promise<GenAiSdk>),
    where: "`globalThis.fetch = fetch`: this version has no option for it",
    ask: async (call) => {
      const former = globalThis.fetch;
      globalThis.fetch = limited(call);
      try {
        return await generate((await import("genai-1")) as unknown as GenAiSdk, call, {});
      } finally {
        globalThis.fetch = former;
      }
    },
  },
  genai("@google/genai", () => import("@google/genai")),
  genai("genai-3", () => import("genai-3") as unknown as Promise<GenAiSdk>),
  ...AI_ROWS,
  {
    sdk: "@langchain/openai",
    installed: "@langchain/openai",
    where: "`new ChatOpenAI({ configuration: { fetch } })`",
    retries: "set",
    timeout: "signal",
    model: "gpt-x",
    ask: async (call) => {
      const { ChatOpenAI } = await import("@langchain/openai");
      const { fetch, timeout } = clientOptions(call);
      const options = { apiKey: "k", model: "gpt-x", maxRetries: 0, configuration: { fetch } };
      return invoked(new ChatOpenAI({ ...options, ...(timeout === undefined ? {} : { timeout }) }), call);
    },
  },
  {
    sdk: "@langchain/anthropic",
    installed: "@langchain/anthropic",
    where: "`new ChatAnthropic({ clientOptions: { fetch } })`",
    retries: "set",
    timeout: "header",
    model: "claude-x",
    ask: async (call) => {
      const { ChatAnthropic } = await import("@langchain/anthropic");
      const options = { apiKey: "k", model: "claude-x", maxRetries: 0, clientOptions: clientOptions(call) };
      return invoked(new ChatAnthropic(options), call);
    },
  },
  {
    sdk: "@mistralai/mistralai",
    installed: "@mistralai/mistralai",
    where: "`new Mistral({ httpClient: new HTTPClient({ fetcher: fetch }) })`",
    retries: "none",
    timeout: "signal",
    model: "mistral-x",
    ask: async (call) => {
      const { Mistral, HTTPClient } = (await import("@mistralai/mistralai")) as never as MistralSdk;
      const client = new Mistral({
        apiKey: "k",
        httpClient: new HTTPClient({ fetcher: limited(call) }),
        ...(call.timeoutMs === undefined ? {} : { timeoutMs: call.timeoutMs }),
      });
      const options = call.signal === undefined ? {} : { fetchOptions: { signal: call.signal } };
      const request = chat("mistral-x");
      if (!call.isStream)
        return String((await client.chat.complete(request, options)).choices[0]?.message?.content ?? "");
      return collect(await client.chat.stream(request, options), ({ data }) => data.choices[0]?.delta?.content);
    },
  },
  {
    sdk: "groq-sdk",
    installed: "groq-sdk",
    where: "`new Groq({ fetch })`",
    ...ofOpenAI,
    model: "llama-x",
    ask: async (call) => {
      const { Groq } = await import("groq-sdk");
      return completion(new Groq({ apiKey: "k", ...clientOptions(call) }), "llama-x", call);
    },
  },
  {
    sdk: "cohere-ai",
    installed: "cohere-ai",
    where: "`new CohereClientV2({ fetch })`",
    retries: "set",
    timeout: "signal",
    model: "command-x",
    ask: async (call) => {
      const { CohereClientV2 } = (await import("cohere-ai")) as never as CohereSdk;
      const client = new CohereClientV2({ token: "k", fetch: limited(call), maxRetries: 0 });
      const { signal, timeoutMs } = call;
      const options = {
        ...(signal === undefined ? {} : { abortSignal: signal }),
        ...(timeoutMs === undefined ? {} : { timeoutInSeconds: timeoutMs / 1_000 }),
      };
      const request = chat("command-x");
      if (!call.isStream) return (await client.chat(request, options)).message.content[0]?.text ?? "";
      return collect(await client.chatStream(request, options), ({ delta }) => delta?.message?.content?.text);
    },
  },
  {
    sdk: "ollama",
    installed: "ollama",
    where: "`new Ollama({ fetch })`; to abort, pass a `fetch` that adds your signal",
    retries: "none",
    timeout: "none",
    model: "llama-x",
    ask: async (call) => {
      const { Ollama } = await import("ollama");
      const fetch = limited(call);
      const withSignal: Fetch = (input, init) => fetch(input, { ...init, ...requestOptions(call) });
      const client = new Ollama({ fetch: withSignal });
      if (!call.isStream) return (await client.chat(chat("llama-x"))).message.content;
      return collect(await client.chat({ ...chat("llama-x"), stream: true }), ({ message: { content } }) => content);
    },
  },
];

/** A chat model of LangChain, as far as it is called. */
interface ChatModel {
  invoke(input: string, options: object): Promise<{ readonly content: unknown }>;
  stream(input: string, options: object): Promise<AsyncIterable<{ readonly text: string }>>;
}

async function invoked(model: ChatModel, call: SdkCall): Promise<string> {
  const options = requestOptions(call);
  if (!call.isStream) return String((await model.invoke(PROMPT, options)).content);
  return collect(await model.stream(PROMPT, options), ({ text }) => text);
}

interface MistralSdk {
  HTTPClient: new (options: { fetcher: Fetch }) => object;
  Mistral: new (
    options: object,
  ) => {
    chat: {
      complete(request: object, options: object): Promise<Completion>;
      stream(request: object, options: object): Promise<AsyncIterable<{ data: Completion }>>;
    };
  };
}

interface CohereSdk {
  CohereClientV2: new (
    options: object,
  ) => {
    chat(request: object, options: object): Promise<{ message: { content: { text: string }[] } }>;
    chatStream(
      request: object,
      options: object,
    ): Promise<AsyncIterable<{ delta?: { message?: { content?: { text?: string } } } }>>;
  };
}
