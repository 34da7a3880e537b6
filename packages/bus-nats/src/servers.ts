import { InvalidConfigError } from "@hivepace/core";
import { hostText, parseAddress } from "@hivepace/core/internal";

const PORT = 4222;
const RULE = "an address or a list of them, such as `nats://localhost:4222`";

/** Servers in the client's format, with the login and TLS settings from their addresses. */
export interface Servers {
  readonly servers: string[];
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
  readonly tls?: object;
}

/** Parses addresses with or without a scheme. The client itself would ignore everything before the `@`. */
export function readServers(given: unknown): Servers {
  const list: readonly unknown[] = typeof given === "string" ? [given] : Array.isArray(given) ? given : [];
  if (list.length === 0) throw new InvalidConfigError("servers", RULE, given);
  const all = list.map((server) => {
    const text = typeof server === "string" ? server : "";
    const address = parseAddress(text.includes("://") ? text : `nats://${text}`);
    if (!address || !/^(nats|tls)$/.test(address.scheme)) throw new InvalidConfigError("servers", RULE, given);
    return address;
  });
  const { user, password } = all.find((address) => address.user !== undefined || address.password !== undefined) ?? {};
  return {
    servers: all.flatMap(({ hosts }) => hosts.map((host) => hostText(host, PORT))),
    ...(password !== undefined && { user: user ?? "", pass: password }),
    ...(password === undefined && user !== undefined && { token: user }),
    ...(all.some(({ scheme }) => scheme === "tls") && { tls: {} }),
  };
}
