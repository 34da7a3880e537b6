import { InvalidConfigError } from "@hivepace/core";
import { escapePart } from "@hivepace/core/internal";

/**
 * The Redis key of an endpoint's counters: `<namespace>:ratelimit:<endpoint>:<model>`, with `default` for no model.
 *
 * What separates parts, opens a hash tag or cannot be read in a terminal is escaped in each part, so that no id can
 * reach another's key, and ordinary ids stand there as they are.
 */
export function rateLimitKey(namespace: string, endpoint: string, model = "default"): string {
  return [part("namespace", namespace), "ratelimit", part("endpoint", endpoint), part("model", model)].join(":");
}

/**
 * What the Redis keys begin with in which a pool is handed out: `<namespace>:swarm:{<pool>}`. The pool stands in a hash
 * tag, so that all of its keys are on one node of a Cluster.
 */
export function swarmKey(namespace: string, pool: string): string {
  return `${part("namespace", namespace)}:swarm:{${part("pool", pool)}}`;
}

function part(option: string, text: string): string {
  if (typeof text !== "string" || text === "" || /\p{Cs}/u.test(text))
    throw new InvalidConfigError(option, "a well-formed string that is not empty", text);
  return escapePart(text, /[:{}\s\p{Cc}]/u);
}
