import { outputRate, rulesOf } from "../call/provider-rules.ts";
import { isRecord } from "../untyped.ts";

/** The usage that an answer reports, in one vocabulary. Absent fields were not reported. */
export interface ReportedUsage {
  /** Input tokens that were neither read from the cache nor written to it. */
  readonly freshInput?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly output?: number;
}

/** The usage that counts against the limits. */
export interface CountedUsage {
  readonly tokens: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** All tokens of the prompt, whether they count or not, as a tokenizer would count them. */
  readonly promptTokens: number;
  /** The part of the prompt that came from the cache. */
  readonly cachedTokens: number;
}

/** Returns the usage in an answer or in one event of a stream. Later events correct earlier ones. */
export function usageOf(payload: unknown, before?: ReportedUsage): ReportedUsage | undefined {
  const usage = find(Array.isArray(payload) ? payload.at(-1) : payload);
  if (usage === undefined) return before;
  const first = (...names: readonly string[]) => names.map((name) => count(usage[name])).find((n) => n !== undefined);
  const cacheRead =
    count(usage["cache_read_input_tokens"]) ??
    count(inner(usage, "prompt_tokens_details")["cached_tokens"]) ??
    count(inner(usage, "input_tokens_details")["cached_tokens"]) ??
    first("cachedContentTokenCount", "cacheReadInputTokens", "cacheReadInputTokenCount", "prompt_cache_hit_tokens");
  const cacheWrite = first("cache_creation_input_tokens", "cacheWriteInputTokens", "cacheWriteInputTokenCount");
  // Anthropic and Bedrock count the cache beside the input, all others within it.
  const isBeside = ["cache_read_input_tokens", "cacheReadInputTokens", "cacheReadInputTokenCount"].some(
    (name) => name in usage,
  );
  const input = first(
    "prompt_tokens",
    "input_tokens",
    "promptTokenCount",
    "inputTokens",
    "inputTokenCount",
    "prompt_token_count",
    "prompt_eval_count",
  );
  // Prompts that tools of the provider make come on top at Google.
  const allInput = input === undefined ? undefined : input + (count(usage["toolUsePromptTokenCount"]) ?? 0);
  const freshInput = allInput === undefined || isBeside ? allInput : Math.max(0, allInput - (cacheRead ?? 0));
  const output = outputOf(usage, first, isBeside ? undefined : allInput);
  const said = Object.entries({ freshInput, cacheRead, cacheWrite, output }).filter(([, value]) => value !== undefined);
  return said.length === 0 ? before : { ...before, ...Object.fromEntries(said) };
}

/** Returns the produced tokens, with those of reasoning, which some providers count only in the total. */
function outputOf(
  usage: Record<string, unknown>,
  first: (...names: readonly string[]) => number | undefined,
  input: number | undefined,
): number | undefined {
  const thoughts = count(usage["thoughtsTokenCount"]);
  const candidates = count(usage["candidatesTokenCount"]);
  const named = first(
    "completion_tokens",
    "output_tokens",
    "outputTokens",
    "outputTokenCount",
    "generation_token_count",
    "eval_count",
  );
  const google = candidates === undefined && thoughts === undefined ? undefined : (candidates ?? 0) + (thoughts ?? 0);
  const output = named ?? google;
  const total = first("total_tokens", "totalTokenCount");
  if (total === undefined || input === undefined) return output;
  return Math.max(output ?? 0, total - input);
}

/** Returns the tokens that count by the provider's rules for cached input and for output. */
export function countedUsage(
  provider: string,
  usage: ReportedUsage,
  { protocol, model }: { readonly protocol?: string; readonly model?: string | undefined } = {},
): CountedUsage {
  const rules = rulesOf(provider, protocol);
  const { countsCachedInput, output } = rules;
  const { freshInput = 0, cacheRead = 0, cacheWrite = 0, output: outputTokens = 0 } = usage;
  const inputTokens = freshInput + cacheWrite + (countsCachedInput ? cacheRead : 0);
  const tokens = output === "none" ? inputTokens : inputTokens + outputTokens * outputRate(rules, model);
  return {
    tokens,
    inputTokens,
    outputTokens,
    promptTokens: freshInput + cacheWrite + cacheRead,
    cachedTokens: cacheRead,
  };
}

function find(payload: unknown): Record<string, unknown> | undefined {
  if (!isRecord(payload)) return undefined;
  const { usage } = payload;
  const places = [
    // Cohere: tokens as counted, beside those that are billed.
    inner(inner(payload, "delta"), "usage")["tokens"],
    isRecord(usage) ? usage["tokens"] : undefined,
    inner(payload, "meta")["tokens"],
    usage,
    inner(payload, "message")["usage"],
    inner(payload, "response")["usage"],
    payload["usageMetadata"],
    inner(payload, "metadata")["usage"],
    payload["amazon-bedrock-invocationMetrics"],
    // Ollama, and Meta's models on Bedrock, have no object around it.
    "eval_count" in payload || "generation_token_count" in payload ? payload : undefined,
  ];
  return places.find(isRecord);
}

function inner(value: Record<string, unknown>, key: string): Record<string, unknown> {
  const field = value[key];
  return isRecord(field) ? field : {};
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined;
}
