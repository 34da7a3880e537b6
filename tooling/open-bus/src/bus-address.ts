import { InvalidConfigError } from "@hivepace/core";
import { hostText, parseAddress, redactAddress } from "@hivepace/core/internal";

export const busKinds = ["memory", "nats", "redis", "kafka"] as const;
export type BusKind = (typeof busKinds)[number];

export type BusAddress =
  /** All threads of this process that use the same name. */
  | { readonly kind: "memory"; readonly name: string }
  /** A broker: its servers as `host:port`, and the URL in the format of its adapter, including user and password. */
  | { readonly kind: "nats" | "redis" | "kafka"; readonly servers: readonly string[]; readonly url: string };

const RULE = '"memory", "memory:name", nats://host:port, redis://host:port or kafka://host:port[,host:port]';
const SCHEMES: Readonly<Record<string, Exclude<BusKind, "memory">>> = {
  nats: "nats",
  tls: "nats",
  redis: "redis",
  rediss: "redis",
  kafka: "kafka",
  "kafka+ssl": "kafka",
};
const DEFAULT_PORTS = { nats: 4222, redis: 6379, kafka: 9092 } as const;

/**
 * Parses the address of a bus.
 *
 * @throws InvalidConfigError when `text` is not an address; the error never contains a password.
 */
export function parseBusAddress(text: string): BusAddress {
  if (text === "memory") return { kind: "memory", name: "default" };
  const [, name] = /^memory:(.+)$/.exec(text) ?? [];
  if (name !== undefined) return { kind: "memory", name };
  const address = parseAddress(text);
  const kind = address && Object.hasOwn(SCHEMES, address.scheme) ? SCHEMES[address.scheme] : undefined;
  if (!address || kind === undefined) return refuse(RULE, text);
  if (kind === "redis") {
    if (address.hosts.length > 1) refuse("one redis://host:port", text);
    if (!/^\d*$/.test(address.path)) refuse("redis://host:port[/number of a database]", text);
  }
  return { kind, servers: address.hosts.map((host) => hostText(host, DEFAULT_PORTS[kind])), url: text };
}

/** Returns the address without user and password, for output and logs. */
export function shownAddress(text: string): string {
  return redactAddress(text);
}

function refuse(rule: string, text: string): never {
  throw new InvalidConfigError("bus", rule, redactAddress(text));
}
