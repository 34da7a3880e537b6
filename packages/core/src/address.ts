/**
 * A URL of one or more servers, `scheme://[user[:password]@]host[:port][,host[:port]…][/path][?query]`, split into its
 * parts.
 */
export interface Address {
  /** The scheme in lower case, without the colon. */
  readonly scheme: string;
  readonly hosts: readonly HostAndPort[];
  /** User and password are percent-decoded; undefined when absent. */
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** The path without its leading slash. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

/** One server of an address. An IPv6 host has no brackets. */
export interface HostAndPort {
  readonly host: string;
  readonly port: number | undefined;
}

/**
 * Parses a URL; returns undefined for a text that is not one. Unlike `URL`, this function accepts a list of hosts, and
 * a password that contains `/`, `?`, `#` or `@` unencoded: everything before the last `@` is user and password,
 * separated by the first `:`. User and password may be percent-encoded; a `%` that starts no escape sequence is a
 * percent sign.
 */
export function parseAddress(text: string): Address | undefined {
  const [, scheme, rest = ""] = /^([a-z][a-z0-9+.-]*):\/\/([\s\S]*)$/i.exec(text) ?? [];
  if (scheme === undefined) return undefined;
  const at = rest.lastIndexOf("@");
  const credentials = at < 0 ? undefined : rest.slice(0, at);
  const [, places = "", path = "", search = ""] =
    /^([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?(?:#.*)?$/.exec(rest.slice(at + 1)) ?? [];
  const hosts = places.split(",").map(hostAndPort);
  if (!hosts.every((host) => host !== undefined)) return undefined;
  const colon = credentials?.indexOf(":") ?? -1;
  const user = colon < 0 ? credentials : credentials?.slice(0, colon);
  return {
    scheme: scheme.toLowerCase(),
    hosts,
    user: user ? decoded(user) : undefined,
    password: colon < 0 ? undefined : decoded(credentials?.slice(colon + 1) ?? ""),
    path: decoded(path),
    query: Object.fromEntries(new URLSearchParams(search)),
  };
}

function hostAndPort(text: string): HostAndPort | undefined {
  const [, v6, name, digits] = /^(?:\[([0-9a-f:.%]+)\]|([^:\s[\]]+))(?::(\d+))?$/i.exec(text) ?? [];
  const host = v6 ?? name;
  const port = digits === undefined ? undefined : Number(digits);
  if (host === undefined || (port !== undefined && !(port >= 1 && port <= 65_535))) return undefined;
  return { host, port };
}

/** Formats a host and a port as they appear in a URL. */
export function hostText({ host, port }: HostAndPort, defaultPort: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port ?? defaultPort}`;
}

function decoded(text: string): string {
  // Escape sequences that are not valid UTF-8 stay unchanged.
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => {
    try {
      return decodeURIComponent(bytes);
    } catch {
      return bytes;
    }
  });
}
