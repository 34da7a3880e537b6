import { InvalidConfigError } from "@hivepace/core";

export const busKinds = ["memory", "nats", "redis", "kafka"] as const;
export type BusKind = (typeof busKinds)[number];

export type BusAddress =
  /** All threads of this process that name the same one. */
  | { readonly kind: "memory"; readonly name: string }
  | {
      readonly kind: "nats";
      readonly servers: readonly string[];
      readonly user?: string;
      readonly pass?: string;
      readonly token?: string;
    }
  | { readonly kind: "redis"; readonly url: string }
  | { readonly kind: "kafka"; readonly brokers: readonly string[] };

const RULE = '"memory", "memory:name", nats://host:port, redis://host:port or kafka://host:port[,host:port]';
const SCHEMES: Readonly<Record<string, BusKind>> = {
  memory: "memory",
  nats: "nats",
  tls: "nats",
  redis: "redis",
  rediss: "redis",
  kafka: "kafka",
};
const DEFAULT_PORTS = { nats: 4222, redis: 6379, kafka: 9092 } as const;

/** Throws INVALID_CONFIG, which never shows a password. */
export function parseBusAddress(text: string): BusAddress {
  if (text === "memory") return { kind: "memory", name: "default" };
  const [, scheme = "", rest = ""] = /^([a-z]+):(.+)$/.exec(text) ?? [];
  const kind = Object.hasOwn(SCHEMES, scheme) ? SCHEMES[scheme] : undefined;
  if (kind === undefined) refuse(RULE, text);
  if (kind === "memory") return { kind, name: rest };
  if (!rest.startsWith("//")) refuse(RULE, text);

  const { hosts, user, password } = partsOf(rest.slice(2), text);
  const places = hosts.split(",").map((host) => placeOf(host, DEFAULT_PORTS[kind], text));
  if (kind === "redis") {
    if (places.length > 1) refuse("one redis://host:port", text);
    return { kind, url: text };
  }
  if (kind === "kafka") {
    if (user !== undefined) refuse("kafka://host:port[,host:port] without a user", text);
    return { kind, brokers: places };
  }
  const servers = places.map((place) => `${scheme}://${place}`);
  if (user === undefined) return { kind, servers };
  return password === undefined ? { kind, servers, token: user } : { kind, servers, user, pass: password };
}

/** For people and logs: without the user and the password. */
export function shownAddress(text: string): string {
  return text.replace(/(:\/\/)[^/]*@/, "$1…@");
}

function partsOf(rest: string, text: string): { hosts: string; user?: string; password?: string } {
  const [, credentials, hosts = ""] = /^(?:(.*)@)?([^@/?#]+)(?:[/?#].*)?$/.exec(rest) ?? [];
  if (hosts === "") refuse(RULE, text);
  if (credentials === undefined) return { hosts };
  const [user = "", ...password] = credentials.split(":");
  try {
    if (password.length === 0) return { hosts, user: decodeURIComponent(user) };
    return { hosts, user: decodeURIComponent(user), password: decodeURIComponent(password.join(":")) };
  } catch {
    return refuse("an address whose user and password are percent-encoded", text);
  }
}

function placeOf(host: string, defaultPort: number, text: string): string {
  const [, name, port] = /^(\[[^\]]+\]|[^:\s]+)(?::(\d+))?$/.exec(host) ?? [];
  const number = port === undefined ? defaultPort : Number(port);
  if (name === undefined || !(number >= 1 && number <= 65_535)) refuse(RULE, text);
  return `${name}:${number}`;
}

function refuse(rule: string, text: string): never {
  throw new InvalidConfigError("bus", rule, shownAddress(text));
}
