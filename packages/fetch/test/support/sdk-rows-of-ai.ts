import { hivepaceMiddleware } from "../../src/ai-sdk.ts";
import { createLimitedFetch } from "../../src/index.ts";
import type { Fetch, SdkCall, SdkRow } from "./sdk-call.ts";
import { collect } from "./streams.ts";

type Ai = typeof import("ai");
type OpenAi = typeof import("@ai-sdk/openai");
type Anthropic = typeof import("@ai-sdk/anthropic");
type Google = typeof import("@ai-sdk/google");
type Model = Parameters<Ai["wrapLanguageModel"]>[0]["model"];

/** One major version of the AI SDK with its packages for providers. */
interface Version {
  readonly ai: string;
  readonly load: () => Promise<Ai>;
  readonly openai: readonly [installed: string, load: () => Promise<OpenAi>];
  readonly anthropic: readonly [installed: string, load: () => Promise<Anthropic>];
  readonly google: readonly [installed: string, load: () => Promise<Google>];
}

const VERSIONS: readonly Version[] = [
  {
    ai: "ai-5",
    load: () => import("ai-5") as unknown as Promise<Ai>,
    openai: ["ai-sdk-openai-2", () => import("ai-sdk-openai-2") as unknown as Promise<OpenAi>],
    anthropic: ["ai-sdk-anthropic-2", () => import("ai-sdk-anthropic-2") as unknown as Promise<Anthropic>],
    google: ["ai-sdk-google-2", () => import("ai-sdk-google-2") as unknown as Promise<Google>],
  },
  {
    ai: "ai",
    load: () => import("ai"),
    openai: ["@ai-sdk/openai", () => import("@ai-sdk/openai")],
    anthropic: ["@ai-sdk/anthropic", () => import("@ai-sdk/anthropic")],
    google: ["@ai-sdk/google", () => import("@ai-sdk/google")],
  },
  {
    ai: "ai-7",
    load: () => import("ai-7") as unknown as Promise<Ai>,
    openai: ["ai-sdk-openai-4", () => import("ai-sdk-openai-4") as unknown as Promise<OpenAi>],
    anthropic: ["ai-sdk-anthropic-4", () => import("ai-sdk-anthropic-4") as unknown as Promise<Anthropic>],
    google: ["ai-sdk-google-4", () => import("ai-sdk-google-4") as unknown as Promise<Google>],
  },
];

async function text({ generateText, streamText }: Ai, model: Model, call: SdkCall): Promise<string> {
  const { isStream, signal, timeoutMs } = call;
  const abortSignal = signal ?? (timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs));
  const request = { model, prompt: "What do bees do all day?", maxOutputTokens: 64, maxRetries: 0 };
  const options = { ...request, ...(abortSignal === undefined ? {} : { abortSignal }) };
  if (!isStream) return (await generateText(options)).text;
  let failure: unknown;
  const onError = ({ error }: { error: unknown }): void => {
    failure = error;
  };
  const answer = await collect(streamText({ ...options, onError }).textStream, (part) => part);
  if (failure !== undefined) throw failure;
  // An aborted stream ends without an error.
  abortSignal?.throwIfAborted();
  return answer;
}

const byFetch = { retries: "set", timeout: "signal" } as const;

function rowsOf({ ai, load, openai, anthropic, google }: Version): readonly SdkRow[] {
  const limited = ({ gate, send, options }: SdkCall): { apiKey: string; fetch: Fetch } => ({
    apiKey: "k",
    fetch: createLimitedFetch<Fetch>(gate, { ...options, fetch: send }),
  });
  return [
    {
      sdk: "ai",
      installed: ai,
      where: "`wrapLanguageModel({ model, middleware: hivepaceMiddleware(hive) })` of `@hivepace/fetch/ai-sdk`",
      retries: "mark",
      timeout: "signal",
      model: "gpt-x",
      ask: async (call) => {
        const sdk = await load();
        const { createOpenAI } = await openai[1]();
        const { fetch: _, ...options } = call.options;
        const middleware = hivepaceMiddleware(call.gate, options);
        const model = createOpenAI({ apiKey: "k", fetch: call.send }).chat("gpt-x");
        return text(sdk, sdk.wrapLanguageModel({ model, middleware }), call);
      },
    },
    {
      sdk: "@ai-sdk/openai",
      installed: openai[0],
      where: "`createOpenAI({ fetch })`",
      ...byFetch,
      model: "gpt-x",
      ask: async (call) => text(await load(), (await openai[1]()).createOpenAI(limited(call))("gpt-x"), call),
    },
    {
      sdk: "@ai-sdk/anthropic",
      installed: anthropic[0],
      where: "`createAnthropic({ fetch })`",
      ...byFetch,
      model: "claude-x",
      ask: async (call) => text(await load(), (await anthropic[1]()).createAnthropic(limited(call))("claude-x"), call),
    },
    {
      sdk: "@ai-sdk/google",
      installed: google[0],
      where: "`createGoogleGenerativeAI({ fetch })`",
      ...byFetch,
      model: "gemini-x",
      ask: async (call) =>
        text(await load(), (await google[1]()).createGoogleGenerativeAI(limited(call))("gemini-x"), call),
    },
  ];
}

export const AI_ROWS: readonly SdkRow[] = VERSIONS.flatMap(rowsOf).sort((a, b) => (a.sdk < b.sdk ? -1 : 1));
