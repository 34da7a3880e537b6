import { rateLimitKey } from "@hivepace/namespace";
import { refuse } from "../usage-error.ts";
import type { OpenRedis } from "./open-redis.ts";

/** An endpoint or model that is counted, and its limits if known. */
export interface Endpoint {
  readonly id: string;
  readonly model: string | undefined;
  readonly rpmLimit: number | undefined;
  readonly tpmLimit: number | undefined;
}

/** The endpoint that the doctor uses for its probe of the rights. */
export const DOCTORS_ENDPOINT = "hivepace-doctor";

const RULE = "id[/model]:requests:tokens, such as eu/claude:1000:100000, where a limit may be left out";

/**
 * Parses an endpoint such as `eu/claude:1000:100000`.
 *
 * @throws UsageError when the text is not an endpoint.
 */
export function parseEndpoint(text: string): Endpoint {
  const [, name = "", rpm, tpm] = /^([^:]+)(?::(\d*))?(?::(\d*))?$/.exec(text) ?? [];
  if (name === "" || name.startsWith("/") || name.endsWith("/")) refuse("--endpoint", RULE, text);
  return { ...splitName(name), rpmLimit: limit(rpm, text), tpmLimit: limit(tpm, text) };
}

/** Splits the name of a resource, `id` or `id/model`, into its parts. */
export function splitName(name: string): Pick<Endpoint, "id" | "model"> {
  const slash = name.indexOf("/");
  return slash === -1 ? { id: name, model: undefined } : { id: name.slice(0, slash), model: name.slice(slash + 1) };
}

/** Returns the name of an endpoint for output and as an identifier: `id` or `id/model`. */
export function nameOf({ id, model }: Pick<Endpoint, "id" | "model">): string {
  return model === undefined ? id : `${id}/${model}`;
}

/**
 * Scans all keys of the server for those of the namespace. Rejects with the error of Redis when SCAN is not permitted.
 */
export async function findEndpoints(redis: OpenRedis, namespace: string, signal: AbortSignal): Promise<Endpoint[]> {
  const prefix = rateLimitKey(namespace, "x", "x").slice(0, -"x:x".length);
  const pattern = `${prefix.replace(/[\\*?[\]^]/g, "\\$&")}*`;
  const found = new Map<string, Endpoint>();
  for (const node of redis.nodes()) {
    let cursor = "0";
    do {
      const answer = await node.call("SCAN", cursor, "MATCH", pattern, "COUNT", "1000");
      const [next, keys] = answer as [string, string[]];
      for (const key of keys) {
        const endpoint = endpointOf(key.slice(prefix.length));
        if (endpoint) found.set(nameOf(endpoint), endpoint);
      }
      cursor = next;
      if (signal.aborted) throw signal.reason;
    } while (cursor !== "0");
  }
  return [...found.values()].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

/** Parses the key after its prefix: the id and the model, which is `default` for none. */
function endpointOf(rest: string): Endpoint | undefined {
  const parts = rest.split(":");
  try {
    const [id = "", model = ""] = parts.map(decodeURIComponent);
    if (parts.length !== 2 || id === "" || model === "" || id === DOCTORS_ENDPOINT) return undefined;
    return { id, model: model === "default" ? undefined : model, rpmLimit: undefined, tpmLimit: undefined };
  } catch {
    return undefined;
  }
}

function limit(text: string | undefined, whole: string): number | undefined {
  if (text === undefined || text === "") return undefined;
  const number = Number(text);
  if (!(Number.isSafeInteger(number) && number >= 1)) refuse("--endpoint", RULE, whole);
  return number;
}
