import { InvalidConfigError, type SyncName } from "@hivepace/core";
import { rateLimitKey } from "@hivepace/namespace";
import { keySlot } from "@hivepace/redis-client";

export interface SyncKey {
  readonly key: string;
  /** The slot in a Cluster, computed with the key prefix of the client. */
  readonly slot: number;
}

/** Computes the keys of a namespace. Results are cached for the lifetime of the name object. */
export class SyncKeys {
  readonly namespace: string;
  readonly #prefix: string;
  readonly #known = new WeakMap<SyncName, SyncKey>();

  constructor(namespace: string, prefix: string) {
    this.namespace = namespace;
    this.#prefix = prefix;
  }

  of(name: SyncName): SyncKey {
    const known = this.#known.get(name);
    if (known) return known;
    const key = keyOf(this.namespace, name);
    const made = { key, slot: keySlot(this.#prefix + key) };
    this.#known.set(name, made);
    return made;
  }
}

/**
 * Returns `<namespace>:ratelimit:<id>:<model>` for an endpoint, and `<namespace>:ratelimit-<kind>:<id>:<model>` for
 * other kinds.
 */
function keyOf(namespace: string, { kind, id, model }: SyncName): string {
  if (typeof kind !== "string" || !/^[a-z]+$/.test(kind))
    throw new InvalidConfigError("kind", "a word of lower-case letters", kind);
  const key = rateLimitKey(namespace, id, model);
  return kind === "endpoint" ? key : key.replace(":ratelimit:", `:ratelimit-${kind}:`);
}
