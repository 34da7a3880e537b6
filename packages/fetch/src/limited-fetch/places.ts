import type { Protocol } from "../call/call-facts.ts";
import { providerOfHost } from "../call/provider-rules.ts";
import type { FetchEndpoint } from "../options.ts";

/** The path that every SDK of a protocol appends to its base URL. */
const API_PATH: Readonly<Partial<Record<Protocol, RegExp>>> = {
  openai: /\/(?:chat\/completions|completions|responses|embeddings)$/,
  anthropic: /\/v1\/messages(?:\/count_tokens)?$/,
  gemini: /\/v1(?:alpha|beta)?\d*\/models\/[^/]+:\w+$/,
};
const CREDENTIALS = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];
/** Query parameters that hold a key. Gemini accepts its key in the URL. */
const CREDENTIALS_IN_QUERY = ["key", "api_key", "api-key", "access_token"];

/** Finds the endpoint of a URL, and rewrites requests that move to another endpoint. */
export class Places {
  readonly #endpoints: ReadonlyMap<string, FetchEndpoint>;

  constructor(endpoints: readonly FetchEndpoint[]) {
    this.#endpoints = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
  }

  /**
   * Returns the endpoint with the longest base URL that the URL begins with; without one, the provider's name is the
   * id.
   */
  find(url: URL): { readonly id: string; readonly provider: string } {
    const provider = providerOfHost(url.host);
    let found: FetchEndpoint | undefined;
    for (const endpoint of this.#endpoints.values())
      if (restAfter(endpoint.baseURL, url.href) !== undefined && baseLength(endpoint) > baseLength(found))
        found = endpoint;
    return { id: found?.id ?? provider, provider: found?.provider ?? provider };
  }

  /** Returns the provider whose rules apply at this endpoint. */
  providerOf(id: string, otherwise: string): string {
    const { provider, baseURL } = this.#endpoints.get(id) ?? {};
    return provider ?? (baseURL === undefined ? otherwise : providerOfHost(new URL(baseURL).host));
  }

  /**
   * Returns the URL and headers of the request at this endpoint; undefined when it is there already, or cannot move
   * there.
   */
  async move(
    id: string,
    url: URL,
    headers: Headers,
    protocol: Protocol,
  ): Promise<{ readonly url: string; readonly headers: Headers } | undefined> {
    const target = this.#endpoints.get(id);
    if (target?.baseURL === undefined || restAfter(target.baseURL, url.href) !== undefined) return undefined;
    const from = [...this.#endpoints.values()].filter(({ baseURL }) => restAfter(baseURL, url.href) !== undefined);
    const longest = from.sort((a, b) => baseLength(b) - baseLength(a))[0];
    const rest = restAfter(longest?.baseURL, url.href) ?? apiPath(url, protocol);
    if (rest === undefined) return undefined;
    const moved = new Headers(headers);
    const isElsewhere = new URL(target.baseURL).origin !== url.origin;
    const { apiKey } = target;
    const to = new URL(target.baseURL.replace(/\/$/, "") + rest);
    // The key of one host must never reach another host.
    if (isElsewhere || apiKey !== undefined) {
      for (const name of CREDENTIALS) moved.delete(name);
      for (const name of CREDENTIALS_IN_QUERY) if (to.searchParams.has(name)) to.searchParams.delete(name);
    }
    if (apiKey !== undefined) {
      const key = typeof apiKey === "function" ? await apiKey() : apiKey;
      const [name, value] = credential(key, protocol, this.providerOf(id, ""));
      moved.set(name, value);
    }
    return { url: to.href, headers: moved };
  }
}

function credential(key: string, protocol: Protocol, provider: string): readonly [string, string] {
  if (provider === "azure") return ["api-key", key];
  if (protocol === "anthropic") return ["x-api-key", key];
  return protocol === "gemini" ? ["x-goog-api-key", key] : ["authorization", `Bearer ${key}`];
}

function baseLength(endpoint: FetchEndpoint | undefined): number {
  return endpoint?.baseURL?.length ?? 0;
}

function restAfter(baseURL: string | undefined, href: string): string | undefined {
  if (baseURL === undefined) return undefined;
  const base = new URL(baseURL).href.replace(/\/$/, "");
  return href.startsWith(base) && /^([/?#]|$)/.test(href.slice(base.length)) ? href.slice(base.length) : undefined;
}

function apiPath(url: URL, protocol: Protocol): string | undefined {
  const path = API_PATH[protocol]?.exec(url.pathname)?.[0];
  return path === undefined ? undefined : path + url.search;
}
