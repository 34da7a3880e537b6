import { BusUnavailableError } from "@hivepace/bus";

/** What we use of an ioredis client, 5 or 6, of one server or through Sentinel. */
export interface RedisClient {
  readonly status: string;
  connect(): Promise<unknown>;
  disconnect(): void;
  duplicate(override?: object): RedisClient;
  /** The message is a Buffer; declared so wide because the types need not know Node's. */
  publish(channel: string, message: Uint8Array | string): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  ping(): Promise<unknown>;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
}

/** What we use of an ioredis Cluster client: its nodes. */
export interface RedisClusterClient {
  readonly status: string;
  readonly isCluster: boolean;
  connect(): Promise<unknown>;
  disconnect(): void;
  nodes(role?: "all" | "master"): ClusterNode[];
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
}

/** A node of a Redis Cluster, as ioredis lists it. */
export interface ClusterNode extends RedisClient {
  readonly options: { readonly host?: string | undefined; readonly port?: number | undefined };
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
    throw new BusUnavailableError("redis-pubsub", detail, { cause: error });
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

/** Whether Redis wants other credentials than it got. Trying again would not help. */
export function isRefusal(error: unknown): boolean {
  return isReply(error) && /^(NOAUTH|WRONGPASS|ERR invalid password)/.test(error.message);
}

/** Resolves when Redis has answered, be it that this user may not ask. */
export async function answers(client: RedisClient): Promise<void> {
  await client.ping().catch((error: unknown) => {
    if (!isReply(error) || isRefusal(error)) throw error;
  });
}

/** Resolves when a client that was told to disconnect has done so. */
export function ended(client: RedisClient): Promise<void> {
  return new Promise((resolve) => {
    if (client.status === "end") resolve();
    else client.on("end", () => resolve());
  });
}
