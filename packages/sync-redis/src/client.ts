import { SyncUnavailableError } from "@hivepace/core";

/** Commands that are sent together. */
export interface RedisPipeline {
  evalsha(sha: string, keyCount: number, ...args: string[]): unknown;
  eval(script: string, keyCount: number, ...args: string[]): unknown;
  exec(): Promise<[error: Error | null, reply?: unknown][] | null>;
}

/** What we use of an ioredis client, 5 or 6: of one server, through Sentinel, or of a Cluster. */
export interface RedisClient {
  readonly status: string;
  readonly options: { readonly keyPrefix?: string | undefined };
  connect(): Promise<unknown>;
  disconnect(): void;
  duplicate(...args: never[]): unknown;
  pipeline(): unknown;
  ping(): Promise<unknown>;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
}

/** A Cluster client also knows which nodes have a slot, the master first. */
export interface RedisClusterClient extends RedisClient {
  readonly isCluster: boolean;
  readonly slots: readonly (readonly string[])[];
  nodes(
    role?: "all" | "master",
  ): readonly { readonly status: string; on(event: string, listener: () => void): unknown }[];
}

export interface Ioredis {
  readonly Redis: new (...args: readonly unknown[]) => RedisClient;
  readonly Cluster: new (nodes: readonly unknown[], options: object) => RedisClusterClient;
}

export async function loadIoredis(): Promise<Ioredis> {
  try {
    return (await import("ioredis")) as unknown as Ioredis;
  } catch (error) {
    // ioredis may be installed and fail to load: the import's own words say why.
    const reason = (error as Error).message.trim();
    const detail = `it needs ioredis to open connections by itself: npm install ioredis (import failed: ${reason})`;
    throw new SyncUnavailableError("redis", detail, { cause: error });
  }
}

export function isClient(source: object): source is RedisClient | RedisClusterClient {
  return "duplicate" in source && typeof source.duplicate === "function";
}

export function isCluster(client: RedisClient | RedisClusterClient): client is RedisClusterClient {
  return "isCluster" in client && client.isCluster === true;
}

/** Whether Redis itself answered with this error; all others mean that the connection failed. */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === "ReplyError";
}

/** Whether Redis wants other credentials than it got. */
export function isRefusal(error: unknown): boolean {
  return isReply(error) && /^(NOAUTH|WRONGPASS|ERR invalid password)/.test(error.message);
}

/** What an error says to people. That of a host name with several addresses has a code and no message. */
export function tell(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  const text = message || code || String(error);
  return isRefusal(error) ? `Redis refused the credentials: ${text}` : text;
}
