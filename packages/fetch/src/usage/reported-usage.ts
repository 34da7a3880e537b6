import { rulesOf } from "../call/provider-rules.ts";
import { isRecord } from "../signal/error-body.ts";

/** What an answer reports, in one vocabulary. Absent is not said. */
export interface ReportedUsage {
  /** Input without what came from the cache or went into it. */
  readonly freshInput?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly output?: number;
}

/** What counts against the limits. */
export interface CountedUsage {
  readonly tokens: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** All of the prompt, whether it counts or not: what a tokenizer would say. */
  readonly promptTokens: number;
}

/** The usage that stands in an answer or in one event of a stream; later events correct earlier ones. */
export function usageOf(payload: unknown, before?: ReportedUsage): ReportedUsage | undefined {
  const usage = find(Array.isArray(payload) ? payload.at(-1) : payload);
  if (usage === undefined) return before;
  const cacheRead =
    count(usage["cache_read_input_tokens"]) ??
    count(inner(usage, "prompt_tokens_details")["cached_tokens"]) ??
    count(inner(usage, "input_tokens_details")["cached_tokens"]) ??
    count(usage["cachedContentTokenCount"]) ??
    count(usage["cacheReadInputTokens"]);
  const cacheWrite = count(usage["cache_creation_input_tokens"]) ?? count(usage["cacheWriteInputTokens"]);
  // Anthropic and Bedrock count the cache beside the input, all others within it.
  const isBeside = "cache_read_input_tokens" in usage || "cacheReadInputTokens" in usage;
  const input =
    count(usage["prompt_tokens"]) ??
    count(usage["input_tokens"]) ??
    count(usage["promptTokenCount"]) ??
    count(usage["inputTokens"]);
  const freshInput = input === undefined || isBeside ? input : Math.max(0, input - (cacheRead ?? 0));
  const thoughts = count(usage["thoughtsTokenCount"]) ?? 0;
  const candidates = count(usage["candidatesTokenCount"]);
  const output =
    count(usage["completion_tokens"]) ??
    count(usage["output_tokens"]) ??
    count(usage["outputTokens"]) ??
    (candidates === undefined ? undefined : candidates + thoughts);
  const said = Object.entries({ freshInput, cacheRead, cacheWrite, output }).filter(([, value]) => value !== undefined);
  return said.length === 0 ? before : { ...before, ...Object.fromEntries(said) };
}

/** By the provider's rule: whether cached input counts, and whether output does. */
export function countedUsage(provider: string, usage: ReportedUsage): CountedUsage {
  const { countsCachedInput, output } = rulesOf(provider);
  const { freshInput = 0, cacheRead = 0, cacheWrite = 0, output: outputTokens = 0 } = usage;
  const inputTokens = freshInput + cacheWrite + (countsCachedInput ? cacheRead : 0);
  const tokens = output === "none" ? inputTokens : inputTokens + outputTokens;
  return { tokens, inputTokens, outputTokens, promptTokens: freshInput + cacheWrite + cacheRead };
}

function find(payload: unknown): Record<string, unknown> | undefined {
  if (!isRecord(payload)) return undefined;
  for (const place of [
    payload["usage"],
    inner(payload, "message")["usage"],
    inner(payload, "response")["usage"],
    payload["usageMetadata"],
  ])
    if (isRecord(place)) return place;
  return undefined;
}

function inner(value: Record<string, unknown>, key: string): Record<string, unknown> {
  const field = value[key];
  return isRecord(field) ? field : {};
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined;
}
