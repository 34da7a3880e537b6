import { parseCount, parseReset, SECOND_MS, saneMs } from "./amounts.ts";
import { type DimensionSet, inferWindow, withoutAbsent } from "./dimension-set.ts";
import type { SignalDimension } from "./provider-signal.ts";

interface Item {
  /** A string without its quotes, a token or a number. */
  readonly name: string;
  readonly isNamed: boolean;
  readonly params: ReadonlyMap<string, string>;
}

/** One item of a structured list: `"basic";q=100;w=60`, `100;w=60`, `limit=100`. */
const ITEM = /^(?:"((?:[^"\\]|\\.){0,256})"|([A-Za-z0-9*][\w.:%*/-]{0,255}))((?:\s*[;=].*)?)$/s;
/** Hugging Face names the kind of window first: `"fixed window";"api";q=500;w=300`. */
const SECOND_NAME = /^\s*;\s*"((?:[^"\\]|\\.){0,256})"/;
const PARAM = /[;=]\s*(?:([a-z*][a-z0-9_.*-]{0,63})\s*=\s*)?("(?:[^"\\]|\\.)*"|:[^:]*:|[^;]*)/g;
const MOST_ITEMS = 32;

/**
 * Adds the `RateLimit` and `RateLimit-Policy` fields of the IETF, in the drafts that servers send: named policies
 * (from -08), one dictionary (-07), three fields (before).
 */
export function addIetfDimensions(fields: ReadonlyMap<string, string>, dims: DimensionSet, now: number): void {
  const policies = items(fields.get("ratelimit-policy") ?? "");
  const current = items(fields.get("ratelimit") ?? "");
  const isDictionary = current.some(({ name, params }) => /^(limit|remaining)$/.test(name) && params.has(""));
  if (isDictionary) addUnnamed(dims, dictionary(current, now), policies);
  else addNamed(dims, current, policies);
  const limits = items(fields.get("ratelimit-limit") ?? "");
  if (limits[0] !== undefined || fields.has("ratelimit-remaining")) {
    const dim = withoutAbsent<SignalDimension>({
      limit: parseCount(limits[0]?.name ?? ""),
      remaining: parseCount(fields.get("ratelimit-remaining") ?? ""),
      resetMs: parseReset(fields.get("ratelimit-reset") ?? "", now),
    });
    addUnnamed(dims, dim, [...limits.slice(1), ...policies]);
  }
  // Envoy's: the old draft under the older name.
  const [first, ...rest] = items(fields.get("x-ratelimit-limit") ?? "");
  if (first !== undefined && rest.some(({ params }) => params.has("w")))
    addUnnamed(dims, withoutAbsent({ limit: parseCount(first.name) }), rest);
}

function addNamed(dims: DimensionSet, current: readonly Item[], policies: readonly Item[]): void {
  for (const { name, isNamed, params } of policies) {
    const limit = parseCount(params.get("q") ?? "");
    if (!isNamed || limit === undefined) continue;
    const unit = params.get("qu") ?? "requests";
    dims.add(`policy:${name}`, withoutAbsent({ limit, windowMs: seconds(params.get("w"), 1), unit }));
  }
  const left = current.flatMap(({ name, isNamed, params }) => {
    const remaining = parseCount(params.get("r") ?? "");
    return !isNamed || remaining === undefined ? [] : [{ name, remaining, resetMs: seconds(params.get("t"), 0) }];
  });
  // Of several partitions the one with the least left counts.
  left.sort((a, b) => a.remaining - b.remaining);
  const seen = new Set<string>();
  for (const { name, remaining, resetMs } of left) {
    if (!seen.has(name)) dims.add(`policy:${name}`, withoutAbsent({ remaining, resetMs }));
    seen.add(name);
  }
}

/** Adds a limit without a name. Its window is that of the policy with this limit, else it is inferred. */
function addUnnamed(dims: DimensionSet, dim: SignalDimension, policies: readonly Item[]): void {
  const policy = policies.find(
    ({ name, params }) => dim.limit !== undefined && parseCount(name) === dim.limit && params.has("w"),
  );
  const windowMs = seconds(policy?.params.get("w"), 1) ?? inferWindow(dim);
  dims.add("requests", withoutAbsent({ ...dim, windowMs }));
}

function dictionary(current: readonly Item[], now: number): SignalDimension {
  const value = (key: string) => current.find(({ name }) => name === key)?.params.get("") ?? "";
  return withoutAbsent({
    limit: parseCount(value("limit")),
    remaining: parseCount(value("remaining")),
    resetMs: parseReset(value("reset"), now),
  });
}

function seconds(text: string | undefined, least: number): number | undefined {
  const count = parseCount(text ?? "");
  return count === undefined || count < least ? undefined : saneMs(count * SECOND_MS);
}

function items(text: string): Item[] {
  const found: Item[] = [];
  for (const part of splitOutsideQuotes(text).slice(0, MOST_ITEMS)) {
    const [, quoted, token, rest = ""] = ITEM.exec(part.trim()) ?? [];
    const second = quoted === undefined ? undefined : SECOND_NAME.exec(rest)?.[1];
    const name = (second ?? quoted)?.replace(/\\(.)/g, "$1") ?? token;
    if (name === undefined) continue;
    const params = new Map<string, string>();
    for (const [, key = "", value = ""] of rest.matchAll(PARAM))
      if (!params.has(key)) params.set(key, value.trim().replace(/^"(.*)"$/s, "$1"));
    found.push({ name, isNamed: quoted !== undefined || parseCount(name) === undefined, params });
  }
  return found;
}

function splitOutsideQuotes(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\\" && isQuoted) i++;
    else if (text[i] === '"') isQuoted = !isQuoted;
    else if (text[i] === "," && !isQuoted) {
      parts.push(text.slice(from, i));
      from = i + 1;
    }
  }
  parts.push(text.slice(from));
  return parts.filter((part) => part.trim() !== "");
}
