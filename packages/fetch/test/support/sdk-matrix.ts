import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

type Fetch = typeof globalThis.fetch;

/** An SDK as users write it, with a limited fetch. */
export interface SdkRow {
  /** The name on npm, and the name it is installed by here. */
  readonly sdk: string;
  readonly installed: string;
  /** Where the limited fetch goes. */
  readonly where: string;
  /** The retries of the SDK itself: `header` heeds x-should-retry, `none` never retries, `set` needs `maxRetries: 0`. */
  readonly retries: "header" | "none" | "set";
  readonly model: string;
  /** One call, with `maxRetries: 0` where the SDK has to be told. */
  readonly ask: (fetch: Fetch) => Promise<string>;
}

const PROMPT = "What do bees do all day?";
const chat = (model: string) => ({ model, messages: [{ role: "user" as const, content: PROMPT }] });
const message = { model: "claude-x", max_tokens: 64, messages: [{ role: "user" as const, content: PROMPT }] };

type OpenAiSdk = typeof import("openai");
type GenAiSdk = typeof import("@google/genai");

const openai = (installed: string, load: () => Promise<OpenAiSdk>): SdkRow => ({
  sdk: "openai",
  installed,
  where: "`new OpenAI({ fetch })`",
  retries: "header",
  model: "gpt-x",
  ask: async (fetch) => {
    const { OpenAI } = await load();
    const answer = await new OpenAI({ apiKey: "k", fetch }).chat.completions.create(chat("gpt-x"));
    return answer.choices[0]?.message.content ?? "";
  },
});

const genai = (installed: string, load: () => Promise<GenAiSdk>): SdkRow => ({
  sdk: "@google/genai",
  installed,
  where: "`new GoogleGenAI({ httpOptions: { fetch } })`",
  retries: "none",
  model: "gemini-x",
  ask: async (fetch) => generate(await load(), { fetch }),
});

async function generate({ GoogleGenAI }: GenAiSdk, httpOptions: { readonly fetch?: Fetch }): Promise<string> {
  const client = new GoogleGenAI({ apiKey: "k", httpOptions: httpOptions as never });
  return (await client.models.generateContent({ model: "gemini-x", contents: PROMPT })).text ?? "";
}

export const SDKS: readonly SdkRow[] = [
  openai("openai-5", () => import("openai-5") as unknown as Promise<OpenAiSdk>),
  openai("openai", () => import("openai")),
  openai("openai-7", () => import("openai-7") as unknown as Promise<OpenAiSdk>),
  {
    sdk: "openai, AzureOpenAI",
    installed: "openai",
    where: "`new AzureOpenAI({ fetch })`",
    retries: "header",
    model: "gpt-x",
    ask: async (fetch) => {
      const { AzureOpenAI } = await import("openai");
      const client = new AzureOpenAI({ apiKey: "k", endpoint: "https://x.openai.azure.com", apiVersion: "1", fetch });
      return (await client.chat.completions.create(chat("gpt-x"))).choices[0]?.message.content ?? "";
    },
  },
  {
    sdk: "@openai/agents",
    installed: "@openai/agents",
    where: "`new OpenAIProvider({ openAIClient: new OpenAI({ fetch }) })`",
    retries: "header",
    model: "gpt-x",
    ask: async (fetch) => {
      const { Agent, OpenAIProvider, Runner, setTracingDisabled } = await import("@openai/agents");
      const { OpenAI } = await import("openai");
      setTracingDisabled(true);
      const openAIClient = new OpenAI({ apiKey: "k", fetch }) as never;
      const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient, useResponses: false }) });
      const result = await runner.run(new Agent({ name: "bee", instructions: "Be a bee.", model: "gpt-x" }), PROMPT);
      return String(result.finalOutput ?? "");
    },
  },
  {
    sdk: "@anthropic-ai/sdk",
    installed: "anthropic-sdk-0",
    where: "`new Anthropic({ fetch })`",
    retries: "header",
    model: "claude-x",
    ask: async (fetch) => {
      const { Anthropic } = (await import("anthropic-sdk-0")) as unknown as typeof import("@anthropic-ai/sdk");
      return textOf((await new Anthropic({ apiKey: "k", fetch }).messages.create(message)).content);
    },
  },
  {
    sdk: "@anthropic-ai/sdk",
    installed: "@anthropic-ai/sdk",
    where: "`new Anthropic({ fetch })`",
    retries: "header",
    model: "claude-x",
    ask: async (fetch) => {
      const { Anthropic } = await import("@anthropic-ai/sdk");
      return textOf((await new Anthropic({ apiKey: "k", fetch }).messages.create(message)).content);
    },
  },
  {
    sdk: "@anthropic-ai/bedrock-sdk",
    installed: "@anthropic-ai/bedrock-sdk",
    where: "`new AnthropicBedrock({ fetch })`",
    retries: "header",
    model: "claude-x",
    ask: async (fetch) => {
      const { AnthropicBedrock } = await import("@anthropic-ai/bedrock-sdk");
      const keys = { awsAccessKey: "k", awsSecretKey: "s", awsRegion: "eu-central-1" };
      return textOf((await new AnthropicBedrock({ ...keys, fetch } as never).messages.create(message)).content);
    },
  },
  {
    sdk: "@anthropic-ai/vertex-sdk",
    installed: "@anthropic-ai/vertex-sdk",
    where: "`new AnthropicVertex({ fetch })`",
    retries: "header",
    model: "claude-x",
    ask: async (fetch) => {
      const { AnthropicVertex } = await import("@anthropic-ai/vertex-sdk");
      const authClient = { getRequestHeaders: async () => new Headers({ authorization: "Bearer k" }), projectId: "p" };
      const client = new AnthropicVertex({ region: "europe-west1", projectId: "p", authClient, fetch } as never);
      return textOf((await client.messages.create(message)).content);
    },
  },
  {
    ...genai("genai-1", () => import("genai-1") as unknown as Promise<GenAiSdk>),
    where: "`globalThis.fetch = fetch`: this version has no option for it",
    ask: async (fetch) => {
      const former = globalThis.fetch;
      globalThis.fetch = fetch;
      try {
        return await generate((await import("genai-1")) as unknown as GenAiSdk, {});
      } finally {
        globalThis.fetch = former;
      }
    },
  },
  genai("@google/genai", () => import("@google/genai")),
  genai("genai-3", () => import("genai-3") as unknown as Promise<GenAiSdk>),
  {
    sdk: "@langchain/openai",
    installed: "@langchain/openai",
    where: "`new ChatOpenAI({ configuration: { fetch } })`",
    retries: "set",
    model: "gpt-x",
    ask: async (fetch) => {
      const { ChatOpenAI } = await import("@langchain/openai");
      const client = new ChatOpenAI({ apiKey: "k", model: "gpt-x", maxRetries: 0, configuration: { fetch } });
      return String((await client.invoke(PROMPT)).content);
    },
  },
  {
    sdk: "@langchain/anthropic",
    installed: "@langchain/anthropic",
    where: "`new ChatAnthropic({ clientOptions: { fetch } })`",
    retries: "set",
    model: "claude-x",
    ask: async (fetch) => {
      const { ChatAnthropic } = await import("@langchain/anthropic");
      const client = new ChatAnthropic({ apiKey: "k", model: "claude-x", maxRetries: 0, clientOptions: { fetch } });
      return String((await client.invoke(PROMPT)).content);
    },
  },
  {
    sdk: "@mistralai/mistralai",
    installed: "@mistralai/mistralai",
    where: "`new Mistral({ httpClient: new HTTPClient({ fetcher: fetch }) })`",
    retries: "none",
    model: "mistral-x",
    ask: async (fetch) => {
      const { Mistral, HTTPClient } = (await import("@mistralai/mistralai")) as never as MistralSdk;
      const client = new Mistral({ apiKey: "k", httpClient: new HTTPClient({ fetcher: fetch }) });
      return String((await client.chat.complete(chat("mistral-x"))).choices[0]?.message.content);
    },
  },
  {
    sdk: "groq-sdk",
    installed: "groq-sdk",
    where: "`new Groq({ fetch })`",
    retries: "header",
    model: "llama-x",
    ask: async (fetch) => {
      const { Groq } = await import("groq-sdk");
      const answer = await new Groq({ apiKey: "k", fetch }).chat.completions.create(chat("llama-x"));
      return answer.choices[0]?.message.content ?? "";
    },
  },
  {
    sdk: "cohere-ai",
    installed: "cohere-ai",
    where: "`new CohereClientV2({ fetch })`",
    retries: "set",
    model: "command-x",
    ask: async (fetch) => {
      const { CohereClientV2 } = (await import("cohere-ai")) as never as CohereSdk;
      const client = new CohereClientV2({ token: "k", fetch, maxRetries: 0 });
      return (await client.chat(chat("command-x"))).message.content[0]?.text ?? "";
    },
  },
  {
    sdk: "ollama",
    installed: "ollama",
    where: "`new Ollama({ fetch })`",
    retries: "none",
    model: "llama-x",
    ask: async (fetch) => {
      const { Ollama } = await import("ollama");
      return (await new Ollama({ fetch }).chat(chat("llama-x"))).message.content;
    },
  },
];

interface MistralSdk {
  HTTPClient: new (options: { fetcher: Fetch }) => object;
  Mistral: new (options: {
    apiKey: string;
    httpClient: object;
  }) => { chat: { complete(request: object): Promise<{ choices: { message: { content: unknown } }[] }> } };
}

interface CohereSdk {
  CohereClientV2: new (
    options: object,
  ) => { chat(request: object): Promise<{ message: { content: { text: string }[] } }> };
}

function textOf(content: readonly { readonly type: string; readonly text?: string }[]): string {
  return content.map(({ text = "" }) => text).join("");
}

/** The version that is installed under a name. */
export function versionOf(installed: string): string {
  const require = createRequire(import.meta.url);
  for (let folder = dirname(require.resolve(installed)); ; folder = dirname(folder)) {
    try {
      const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      if (name && version) return version;
    } catch {
      if (folder === dirname(folder)) throw new Error(`no version of ${installed}`);
    }
  }
}

/** Clients with an entry of their own, which other tests run. */
const OTHERS: readonly (readonly [sdk: string, installed: readonly string[], where: string, retries: string])[] = [
  [
    "ai",
    ["ai-5", "ai", "ai-7"],
    "`wrapLanguageModel({ model, middleware: hivepaceMiddleware(hive) })` of `@hivepace/fetch/ai-sdk`",
    "off for refusals: the error says so",
  ],
  [
    "@ai-sdk/openai",
    ["ai-sdk-openai-2", "@ai-sdk/openai", "ai-sdk-openai-4"],
    "`createOpenAI({ fetch })`, and likewise with the other providers of `ai`",
    "set `maxRetries: 0` in the call",
  ],
  [
    "undici",
    ["undici-6", "undici", "undici-8"],
    "`new Agent().compose(hivepaceInterceptor(hive))` of `@hivepace/fetch/undici`",
    "none, without its `retry` interceptor",
  ],
  [
    "@aws-sdk/client-bedrock-runtime",
    ["@aws-sdk/client-bedrock-runtime"],
    "`limitAwsClient(client, hive)` of `@hivepace/fetch/aws`",
    "on, as `maxAttempts` says: each attempt takes a turn",
  ],
];

const RETRIES = {
  header: "off for refusals: it heeds `x-should-retry`",
  none: "none",
  set: "set `maxRetries: 0`",
} as const;

/** The table of `docs/sdks.md`. */
export function sdkTable(): string {
  const lines = new Map<string, { versions: string[]; sdk: string; where: string; retries: string }>();
  for (const { sdk, installed, where, retries } of SDKS) {
    const line = lines.get(`${sdk} ${where}`) ?? { versions: [], sdk, where, retries: RETRIES[retries] };
    line.versions.push(versionOf(installed));
    lines.set(`${sdk} ${where}`, line);
  }
  for (const [sdk, installed, where, retries] of OTHERS)
    lines.set(sdk, { versions: installed.map(versionOf), sdk, where, retries });
  const rows = [...lines.values()].map(
    ({ sdk, versions, where, retries }) => `| \`${sdk}\` | ${versions.join(", ")} | ${where} | ${retries} |`,
  );
  return ["| client | tested versions | where it goes | its own retries |", "|---|---|---|---|", ...rows].join("\n");
}
