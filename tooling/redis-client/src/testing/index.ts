import { Cluster as Cluster6, Redis as Redis6 } from "ioredis";
import { Cluster as Cluster5, Redis as Redis5 } from "ioredis-5";
import { createClient, createCluster, createSentinel } from "redis";
import type { LentRedisClient } from "../../types.ts";

export { type IoredisVersion, ioredisVersions } from "./ioredis-versions.ts";
export { Opened } from "./opened.ts";

interface Address {
  readonly host: string;
  readonly port: number;
}

interface Login {
  readonly username?: string;
  readonly password?: string;
}

/** A client from the point of view of its owner. */
export interface OwnersClient {
  readonly client: LentRedisClient;
  /** Ends the client as its owner would. */
  close(): void;
  /** The number of listeners of each event, including the owner's. */
  listeners(): readonly (readonly [string, number])[];
  ping(): Promise<unknown>;
}

/** A supported client library and version, with factories that create clients as users do. */
export interface ClientVersion {
  readonly version: string;
  /** The value of the option `client` for this library. */
  readonly client: "ioredis" | "redis";
  server(address: Address, login?: Login): OwnersClient;
  sentinel(sentinels: readonly Address[], name: string): OwnersClient;
  cluster(nodes: readonly Address[], login?: Login): OwnersClient;
}

interface Emitter {
  eventNames(): (string | symbol)[];
  listenerCount(event: string): number;
  on(event: "error", listener: () => void): unknown;
}

function owned(client: LentRedisClient, close: () => unknown, ping: () => Promise<unknown>): OwnersClient {
  const emitter = client as unknown as Emitter;
  emitter.on("error", () => {});
  return {
    client,
    close,
    ping,
    listeners: () =>
      emitter
        .eventNames()
        .map((event) => [String(event), emitter.listenerCount(String(event))] as const)
        .filter(([event, count]) => count > 0 && !event.startsWith("__")),
  };
}

type AnyIoredis = typeof Redis6;
type AnyCluster = typeof Cluster6;

function ioredis(version: string, Redis: AnyIoredis, Cluster: AnyCluster): ClientVersion {
  const own = (client: InstanceType<AnyIoredis> | InstanceType<AnyCluster>) =>
    owned(
      client as unknown as LentRedisClient,
      () => client.disconnect(),
      () => client.ping(),
    );
  return {
    version,
    client: "ioredis",
    server: ({ host, port }, login = {}) => own(new Redis({ host, port, ...login, retryStrategy: () => 50 })),
    sentinel: (sentinels, name) => own(new Redis({ sentinels: [...sentinels], name })),
    cluster: (nodes, login = {}) => own(new Cluster([...nodes], { redisOptions: login })),
  };
}

/** Ends a client of node-redis, which throws if the client is closed already. */
const end = (client: { readonly isOpen: boolean; destroy(): unknown }) => (): void => {
  if (client.isOpen) void client.destroy();
};

/** Connects a client. Failures are ignored here, because events report them too. */
function opening<T extends { connect(): Promise<unknown>; on(event: "error", listener: () => void): unknown }>(
  client: T,
): T {
  client.on("error", () => {});
  client.connect().catch(() => {});
  return client;
}

const nodeRedis: ClientVersion = {
  version: "redis 5",
  client: "redis",
  server({ host, port }, login = {}) {
    const client = opening(createClient({ ...login, socket: { host, port, reconnectStrategy: 50 } }));
    return owned(client as unknown as LentRedisClient, end(client), () => client.ping());
  },
  sentinel(sentinelRootNodes, name) {
    const client = opening(createSentinel({ name, sentinelRootNodes: [...sentinelRootNodes] }));
    return owned(client as unknown as LentRedisClient, end(client), () => client.ping());
  },
  cluster(nodes, login = {}) {
    const rootNodes = nodes.map((socket) => ({ socket }));
    const client = opening(createCluster({ rootNodes, defaults: { ...login, socket: { reconnectStrategy: 50 } } }));
    return owned(client as unknown as LentRedisClient, end(client), () => client.get("ping"));
  },
};

/** Every client library that the Redis packages support. */
export const clientVersions: readonly ClientVersion[] = [
  ioredis("ioredis 6", Redis6, Cluster6),
  ioredis("ioredis 5", Redis5 as unknown as AnyIoredis, Cluster5 as unknown as AnyCluster),
  nodeRedis,
];
