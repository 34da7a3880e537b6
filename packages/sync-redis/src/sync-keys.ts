import { InvalidConfigError, type SyncName } from "@hivepace/core";
import { rateLimitKey } from "@hivepace/namespace";
import { keySlot } from "./key-slot.ts";

export interface SyncKey {
  readonly key: string;
  /** In a Cluster, with the prefix that the client puts before its keys. */
  readonly slot: number;
}

/** The keys of things in one namespace. What was made of a name is remembered for as long as the name object lives. */
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

/** An endpoint's key is `<namespace>:ratelimit:<id>:<model>`; that of another kind has the kind behind `ratelimit`. */
function keyOf(namespace: string, { kind, id, model }: SyncName): string {
  if (typeof kind !== "string" || !/^[a-z]+$/.test(kind))
    throw new InvalidConfigError("kind", "a word of lower-case letters", kind);
  const key = rateLimitKey(namespace, id, model);
  return kind === "endpoint" ? key : key.replace(":ratelimit:", `:ratelimit-${kind}:`);
}
