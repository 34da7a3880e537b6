/** A `Headers`, a plain object, pairs, or a `Map`. */
export type HeadersLike = object;

/** Longer values than this carry no limit. */
const LONGEST_VALUE = 8_192;
const MOST_FIELDS = 1_000;
/** A LiteLLM proxy passes the provider's own headers on under this name. */
const PROXY_PREFIX = "llm_provider-";

/** Returns header fields by lower-case name. A field that a proxy passed on counts where the proxy has none of its own. */
export function readHeaders(headers: unknown): Map<string, string> {
  const own = new Map<string, string>();
  const passedOn = new Map<string, string>();
  for (const [name, value] of entriesOf(headers)) {
    if (own.size + passedOn.size >= MOST_FIELDS) break;
    const text = Array.isArray(value) ? value.join(", ") : value;
    if (typeof name !== "string" || !(typeof text === "string" || typeof text === "number")) continue;
    const trimmed = String(text).trim();
    if (trimmed === "" || trimmed.length > LONGEST_VALUE) continue;
    const key = name.trim().toLowerCase().replace("x-rate-limit-", "x-ratelimit-");
    if (key.startsWith(PROXY_PREFIX)) join(passedOn, key.slice(PROXY_PREFIX.length), trimmed);
    else join(own, key, trimmed);
  }
  for (const [name, value] of passedOn) if (!own.has(name)) own.set(name, value);
  return own;
}

/** Joins a field that comes several times to one list, as `Headers` does. */
function join(fields: Map<string, string>, name: string, value: string): void {
  const before = fields.get(name);
  fields.set(name, before === undefined ? value : `${before}, ${value}`);
}

function entriesOf(headers: unknown): Iterable<readonly [unknown, unknown]> {
  if (typeof headers !== "object" || headers === null) return [];
  if (Symbol.iterator in headers) {
    const pairs = [...(headers as Iterable<unknown>)];
    return pairs.filter((pair): pair is [unknown, unknown] => Array.isArray(pair) && pair.length === 2);
  }
  return Object.entries(headers);
}
