import { InvalidConfigError } from "@hivepace/core";
import { escapePart } from "@hivepace/core/internal";

/**
 * Returns the Redis key of an endpoint's counters: `<namespace>:ratelimit:<endpoint>:<model>`, with `default` for no
 * model.
 *
 * Each part escapes separators, hash-tag braces and characters that a terminal cannot show, so that no id can form
 * another id's key; ordinary ids appear unchanged.
 *
 * @throws InvalidConfigError when a part is empty or not well-formed.
 *
 * @example
 * ```ts
 * import { rateLimitKey } from "@hivepace/namespace";
 *
 * rateLimitKey("prod", "anthropic-primary", "claude-4"); // "prod:ratelimit:anthropic-primary:claude-4"
 * ```
 */
export function rateLimitKey(namespace: string, endpoint: string, model = "default"): string {
  return [part("namespace", namespace), "ratelimit", part("endpoint", endpoint), part("model", model)].join(":");
}

/**
 * Returns the prefix of the Redis keys of a pool in the allocator: `<namespace>:swarm:{<pool>}`. The pool is a hash
 * tag, so all of its keys are on one node of a Cluster.
 *
 * @throws InvalidConfigError when a part is empty or not well-formed.
 */
export function swarmKey(namespace: string, pool: string): string {
  return `${part("namespace", namespace)}:swarm:{${part("pool", pool)}}`;
}

function part(option: string, text: string): string {
  if (typeof text !== "string" || text === "" || /\p{Cs}/u.test(text))
    throw new InvalidConfigError(option, "a well-formed string that is not empty", text);
  return escapePart(text, /[:{}\s\p{Cc}]/u);
}
