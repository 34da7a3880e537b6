import { addressVariable, type ServerKind } from "./kinds.ts";
import type { Address } from "./process/probe.ts";

const defaultPort: Readonly<Record<ServerKind, number>> = { redis: 6379, nats: 4222, kafka: 9092 };

export interface GivenAddress extends Address {
  /** The address as given. */
  readonly url: string;
  /** Whether the connection uses TLS, which the plain-text probe cannot talk to. */
  readonly tls: boolean;
}

/** Returns the server that the environment names for this kind, if any. */
export function givenAddress(kind: ServerKind, env: NodeJS.ProcessEnv = process.env): GivenAddress | undefined {
  const variable = addressVariable[kind];
  const url = env[variable]?.trim();
  if (url === undefined || url === "") return undefined;
  const first = url.split(",")[0]?.trim() ?? "";
  const parsed = parseUrl(first.includes("://") ? first : `${kind}://${first}`);
  if (parsed === undefined || parsed.hostname === "") {
    throw new Error(`${variable} must be an address of a ${kind} server; received ${JSON.stringify(url)}`);
  }
  const host = parsed.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = parsed.port === "" ? defaultPort[kind] : Number(parsed.port);
  return { url, host, port, tls: parsed.protocol === "rediss:" };
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
