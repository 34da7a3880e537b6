import { parseCount, parseCounts, parseReset, parseTime, SECOND_MS, saneMs } from "./amounts.ts";
import { type DimensionSet, inferWindow, WINDOWS, withoutAbsent } from "./dimension-set.ts";
import type { SignalDimension } from "./provider-signal.ts";

type Fields = ReadonlyMap<string, string>;

const ANTHROPIC =
  /^anthropic-(?:ratelimit-|(priority-|fast-))((?:input-|output-)?tokens|requests)-(limit|remaining|reset)$/;
const UNIFIED = /^anthropic-ratelimit-unified-([a-z0-9_]{1,32})-(utilization|reset)$/;
const GENERAL = /^x-ratelimit-(limit|remaining|reset|renewalperiod)(?:-([a-z][a-z0-9_-]{0,63}))?$/;

/** Limits in the header fields of the providers, each in its own dialect. */
export function addHeaderDimensions(fields: Fields, dims: DimensionSet, now: number): void {
  addAnthropic(fields, dims, now);
  addGeneral(fields, dims, now);
  addCohere(fields, dims);
}

/** `anthropic-ratelimit-requests-limit`; resets are points in time, rounded to seconds, which tell no window. */
function addAnthropic(fields: Fields, dims: DimensionSet, now: number): void {
  for (const [field, value] of fields) {
    const known = ANTHROPIC.exec(field);
    if (known) {
      const [, tier = "", what = "", part] = known;
      const name = `${tier}${what}`.replaceAll("-", "_");
      if (part === "reset") dims.add(name, withoutAbsent({ resetMs: resetAt(value, now) }));
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

function resetAt(value: string, now: number): number | undefined {
  const time = parseTime(value);
  return time === undefined ? parseReset(value, now) : saneMs(time - now);
}

/** `x-ratelimit-limit-requests` and its kin: OpenAI, Azure, Groq, Mistral, Cerebras, OpenRouter, gateways. */
function addGeneral(fields: Fields, dims: DimensionSet, now: number): void {
  const found = new Map<string, SignalDimension>();
  for (const [field, value] of fields) {
    const [, part, suffix = ""] = GENERAL.exec(field) ?? [];
    if (part === undefined) continue;
    const dim = found.get(suffix) ?? {};
    found.set(suffix, dim);
    if (part === "reset") assign(dim, "resetMs", parseReset(latest(value), now));
    else if (part === "renewalperiod") assign(dim, "windowMs", periodMs(value));
    else assign(dim, part as "limit" | "remaining", parseCounts(value));
  }
  const windows = Object.keys(WINDOWS);
  const named = [...found].map(([suffix, dim]) => ({ ...nameOf(suffix), dim }));
  // The usual window of a dimension has its plain name; the others keep theirs.
  named.sort((a, b) => windows.indexOf(a.window ?? "") - windows.indexOf(b.window ?? ""));
  for (const { name, window, dim } of named) {
    if (window !== undefined) dim.windowMs ??= WINDOWS[window] as number;
    assign(dim, "windowMs", dim.windowMs ?? inferWindow(dim));
    dims.add(window !== undefined && dims.has(name) ? `${name}_${window}` : name, dim);
  }
}

function assign<K extends keyof SignalDimension>(dim: SignalDimension, key: K, value: SignalDimension[K] | undefined) {
  if (value !== undefined) dim[key] = value;
}

/** "req-minute" → requests in a minute; "project-tokens" → project_tokens; "" → requests. */
function nameOf(suffix: string): { name: string; window?: string } {
  const parts = suffix.split(/[-_]/).filter((part) => part !== "");
  const window = parts.at(-1);
  const isWindow = window !== undefined && Object.hasOwn(WINDOWS, window);
  const name = (isWindow ? parts.slice(0, -1) : parts).join("_");
  const whole = name === "" || name === "req" || name === "request" ? "requests" : name === "token" ? "tokens" : name;
  return isWindow ? { name: whole, window } : { name: whole };
}

/** Of a reset that came more than once the latest counts; a date has a comma of its own. */
function latest(value: string): string {
  const parts = value.split(",").map((part) => part.trim());
  if (parts.length < 2 || !parts.every((part) => /^\d+(\.\d+)?$/.test(part))) return value;
  return String(Math.max(...parts.map(Number)));
}

function periodMs(value: string): number | undefined {
  const seconds = parseCount(value);
  const windowMs = seconds === undefined ? undefined : saneMs(seconds * SECOND_MS);
  return windowMs === 0 ? undefined : windowMs;
}

/** A trial key's calls in a minute. The monthly number that stands beside it says nothing of what is left. */
function addCohere(fields: Fields, dims: DimensionSet): void {
  const limit = parseCounts(fields.get("x-trial-endpoint-call-limit") ?? "");
  const remaining = parseCounts(fields.get("x-trial-endpoint-call-remaining") ?? "");
  if (limit !== undefined || remaining !== undefined) dims.add("requests_trial", withoutAbsent({ limit, remaining }));
}
