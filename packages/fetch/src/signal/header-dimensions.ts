import { parseCount, parseCounts, parseReset, SECOND_MS, saneMs } from "./amounts.ts";
import { type DimensionSet, inferWindow, WINDOWS, withoutAbsent } from "./dimension-set.ts";
import type { SignalDimension } from "./provider-signal.ts";

type Fields = ReadonlyMap<string, string>;

const ANTHROPIC =
  /^anthropic-(?:ratelimit-|(priority-|fast-))((?:input-|output-)?tokens|requests)-(limit|remaining|reset)$/;
const UNIFIED = /^anthropic-ratelimit-unified-([a-z0-9_]{1,32})-(utilization|reset)$/;
const GENERAL = /^x-ratelimit-(limit|remaining|reset|renewalperiod)(?:-([a-z][a-z0-9_-]{0,63}))?$/;
/** The same with the dimension first: `x-ratelimit-tokens-remaining`. */
const INVERSE =
  /^x-ratelimit-(?!limit-|remaining-|reset-|renewalperiod-)([a-z][a-z0-9_-]{0,63})-(limit|remaining|reset)$/;
/** Together's names for tokens. */
const TOKEN_LIMIT = /^x-tokenlimit-(limit|remaining|reset)(?:-([a-z]{1,16}))?$/;
/** Names that providers have for dimensions of the signal. */
const ALIASES: Readonly<Record<string, string>> = {
  "": "requests",
  req: "requests",
  request: "requests",
  dynamic: "requests_dynamic",
  token: "tokens",
  prompt_tokens: "input_tokens",
  tokens_prompt: "input_tokens",
  tokens_input: "input_tokens",
  completion_tokens: "output_tokens",
  tokens_generated: "output_tokens",
  tokens_output: "output_tokens",
};
/** Mistral's older names for tokens, with and without the window. */
const BY_SIZE = /^(?:x-)?ratelimitbysize-(limit|remaining|reset)(?:-([a-z]{1,16}))?$/;

/** Adds the limits in the header fields of the providers, each in its own dialect. */
export function addHeaderDimensions(fields: Fields, dims: DimensionSet, now: number): void {
  addAnthropic(fields, dims, now);
  addGeneral(fields, dims, now);
  addCohere(fields, dims);
}

/**
 * Adds `anthropic-ratelimit-requests-limit` and the like. Resets are points in time, rounded to seconds, which tell
 * no window.
 */
function addAnthropic(fields: Fields, dims: DimensionSet, now: number): void {
  for (const [field, value] of fields) {
    const known = ANTHROPIC.exec(field);
    if (known) {
      const [, tier = "", what = "", part] = known;
      const name = `${tier}${what}`.replaceAll("-", "_");
      if (part === "reset") dims.add(name, withoutAbsent({ resetMs: latest(value, now) }));
      else dims.add(name, withoutAbsent({ [part as "limit"]: parseCounts(value) }));
    }
    const unified = UNIFIED.exec(field);
    if (unified) {
      const [, name = "", part] = unified;
      if (part === "reset") dims.add(`unified_${name}`, withoutAbsent({ resetMs: parseReset(value, now) }));
      else dims.add(`unified_${name}`, withoutAbsent({ utilization: parseCount(value) }));
    }
  }
}

/** Adds `x-ratelimit-limit-requests` and the like: OpenAI, Azure, Groq, Mistral, Cerebras, OpenRouter, gateways. */
function addGeneral(fields: Fields, dims: DimensionSet, now: number): void {
  const found = new Map<string, Stated>();
  for (const [field, value] of fields) {
    const [, bySize, window] = BY_SIZE.exec(field) ?? [];
    const [, general, named = ""] = GENERAL.exec(field) ?? [];
    const [, together, variant] = TOKEN_LIMIT.exec(field) ?? [];
    const [, inverseName, inverse] = INVERSE.exec(field) ?? [];
    const part = bySize ?? together ?? general ?? inverse;
    if (part === undefined) continue;
    const rest = window ?? variant;
    const plainName = general === undefined ? inverseName : named;
    const suffix = plainName ?? (rest === undefined ? "tokens" : `tokens-${rest}`);
    const stated = found.get(suffix) ?? {};
    found.set(suffix, stated);
    stated[part as keyof Stated] = value;
  }
  const named = [...found].map(([suffix, stated]) => ({ ...nameOf(suffix), dim: dimensionOf(tightest(stated), now) }));
  // The usual window of a dimension has its plain name; the others keep theirs.
  named.sort((a, b) => rankOf(a.window) - rankOf(b.window));
  const plain = new Map<string, SignalDimension>();
  for (const { name, window, dim } of named) {
    assign(dim, "windowMs", dim.windowMs ?? window?.ms ?? inferWindow(dim));
    // A limit that comes both with and without its window is one limit.
    const isOther = dims.has(name) && (dim.limit === undefined || plain.get(name)?.limit !== dim.limit);
    dims.add(window !== undefined && isOther ? `${name}_${window.name}` : name, dim);
    if (window === undefined) plain.set(name, dim);
  }
}

/** The header fields of one limit, as they came. */
type Stated = { [Part in "limit" | "remaining" | "reset" | "renewalperiod"]?: string };

function dimensionOf({ limit, remaining, reset, renewalperiod }: Stated, now: number): SignalDimension {
  return withoutAbsent({
    limit: limit === undefined ? undefined : parseCounts(limit),
    remaining: remaining === undefined ? undefined : parseCounts(remaining),
    resetMs: reset === undefined ? undefined : latest(reset, now),
    windowMs: renewalperiod === undefined ? undefined : periodMs(renewalperiod),
  });
}

/**
 * Some servers state the limits of several windows as lists: "1, 15000" with "0, 1000" left, which return in "1, 1419704".
 * Returns the values of the window with the least left, so that the reset of one window is not taken for another's.
 */
function tightest(stated: Stated): Stated {
  const [limits, left, resets] = [stated.limit, stated.remaining, stated.reset].map((value) => value?.split(/,\s*/));
  if (left === undefined || resets === undefined || left.length < 2 || resets.length !== left.length) return stated;
  if (limits !== undefined && limits.length !== left.length) return stated;
  const counts = left.map((text) => parseCount(text) ?? Infinity);
  const least = counts.indexOf(Math.min(...counts));
  if (counts.lastIndexOf(counts[least] as number) !== least) return stated;
  return withoutAbsent({ ...stated, limit: limits?.[least], remaining: left[least], reset: resets[least] });
}

function assign<K extends keyof SignalDimension>(dim: SignalDimension, key: K, value: SignalDimension[K] | undefined) {
  if (value !== undefined) dim[key] = value;
}

interface NamedWindow {
  /** "minute", "10_second". */
  readonly name: string;
  readonly ms: number;
  readonly unit: string;
}

/** "req-minute" → requests in a minute; "req-10-second" → in ten seconds; "project-tokens" → project_tokens; "" → requests. */
function nameOf(suffix: string): { name: string; window?: NamedWindow } {
  // "tokens-per-day" and "tokens-day" are the same.
  const parts = suffix.split(/[-_]/).filter((part) => part !== "" && part !== "per");
  const unit = parts.at(-1)?.replace(/s$/, "") ?? "";
  if (!Object.hasOwn(WINDOWS, unit)) return { name: wholeName(parts) };
  const times = /^[1-9]\d{0,3}$/.test(parts.at(-2) ?? "") ? Number(parts.at(-2)) : undefined;
  const ms = (WINDOWS[unit] as number) * (times ?? 1);
  const window = { name: times === undefined ? unit : `${times}_${unit}`, ms, unit };
  return { name: wholeName(parts.slice(0, times === undefined ? -1 : -2)), window };
}

function wholeName(parts: readonly string[]): string {
  const name = parts.join("_");
  return (Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined) ?? name;
}

/** Ranks dimensions without a window first, then the usual windows, each before its multiples. */
function rankOf(window: NamedWindow | undefined): number {
  if (window === undefined) return -1;
  return Object.keys(WINDOWS).indexOf(window.unit) + (window.name === window.unit ? 0 : 0.5);
}

/** Parses a reset that may have come several times; the latest counts. A date has a comma of its own. */
function latest(value: string, now: number): number | undefined {
  const whole = parseReset(value, now);
  if (whole !== undefined || !value.includes(",")) return whole;
  const resets = value.split(",").map((part) => parseReset(part.trim(), now));
  return resets.includes(undefined) ? undefined : Math.max(...(resets as number[]));
}

function periodMs(value: string): number | undefined {
  const seconds = parseCount(value);
  const windowMs = seconds === undefined ? undefined : saneMs(seconds * SECOND_MS);
  return windowMs === 0 ? undefined : windowMs;
}

/** Adds the calls per minute of Cohere's trial keys. The monthly number beside it does not tell the remaining calls. */
function addCohere(fields: Fields, dims: DimensionSet): void {
  const limit = parseCounts(fields.get("x-trial-endpoint-call-limit") ?? "");
  const remaining = parseCounts(fields.get("x-trial-endpoint-call-remaining") ?? "");
  if (limit !== undefined || remaining !== undefined) dims.add("requests_trial", withoutAbsent({ limit, remaining }));
}
