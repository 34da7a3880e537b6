/**
 * Public types of the Redis packages, in one file without imports, because the file is bundled into the declarations of
 * each of these packages.
 */

type Listener = (...args: unknown[]) => void;

/** Commands that are sent together. */
export interface RedisPipeline {
  evalsha(sha: string, keyCount: number, ...args: string[]): unknown;
  eval(script: string, keyCount: number, ...args: string[]): unknown;
  exec(): Promise<[error: Error | null, reply?: unknown][] | null>;
}

/**
 * A client of one server, reached directly or through Sentinel.
 *
 * `status` is "wait" before the first attempt to connect, "ready" while commands are sent at once, and "end" when the
 * client will not connect again. The client emits "ready", "error", "close" (a connection or an attempt ended) and
 * "end", and "messageBuffer" with channel and payload for each message.
 */
export interface RedisClient {
  readonly status: string;
  readonly options: {
    readonly keyPrefix?: string | undefined;
    readonly host?: string | undefined;
    readonly port?: number | undefined;
  };
  connect(): Promise<unknown>;
  disconnect(): void;
  /** Creates another, unconnected client with the same settings. */
  duplicate(override?: object): RedisClient;
  pipeline(): unknown;
  ping(): Promise<unknown>;
  /** Publishes a message. The bus passes a Buffer; the wider type avoids a dependency on the types of Node. */
  publish(channel: string, message: Uint8Array | string): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  on(event: string, listener: Listener): unknown;
  off(event: string, listener: Listener): unknown;
}

/**
 * A client of a Redis Cluster. Emits "node error" for an error of one of its connections, and "ready", "close" and "end"
 * for the cluster as a whole.
 */
export interface RedisClusterClient {
  readonly status: string;
  readonly isCluster: boolean;
  readonly options: { readonly keyPrefix?: string | undefined };
  /** The addresses of the nodes of each slot, with the master first. */
  readonly slots: readonly (readonly string[])[];
  connect(): Promise<unknown>;
  disconnect(): void;
  ping(): Promise<unknown>;
  pipeline(): unknown;
  nodes(role?: "all" | "master"): RedisClient[];
  /** Whether the nodes reconnect by themselves, so that a user of a node must not end it. False for ioredis. */
  readonly nodesReconnect?: boolean;
  /** Returns the address of the master of a slot, for clients whose `slots` is empty. */
  ownerOf?(slot: number): string;
  on(event: string, listener: Listener): unknown;
  off(event: string, listener: Listener): unknown;
}

export type AnyRedisClient = RedisClient | RedisClusterClient;

export type NodeRedisListener = (...args: never[]) => void;

export interface NodeRedisEmitter {
  on(event: string, listener: NodeRedisListener): unknown;
  off(event: string, listener: NodeRedisListener): unknown;
  listenerCount(event: string): number;
}

/** The used part of a client of one server. */
export interface NodeRedisClient extends NodeRedisEmitter {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  /** The number of connections that the client has had. */
  readonly socketEpoch?: number;
  readonly options?: object | undefined;
  connect(): Promise<unknown>;
  destroy(): void;
  duplicate(overrides?: object): unknown;
  sendCommand(args: readonly (string | Uint8Array)[], options?: object): Promise<unknown>;
  subscribe(channel: string, listener: (message: never, channel: never) => unknown, bufferMode: true): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  ref(): void;
  unref(): void;
}

/** The used part of a client of a Cluster. */
export interface NodeRedisCluster extends NodeRedisEmitter {
  readonly isOpen: boolean;
  readonly masters: readonly NodeRedisClusterNode[];
  readonly replicas: readonly NodeRedisClusterNode[];
  readonly slots: readonly { readonly master: NodeRedisClusterNode }[];
  connect(): Promise<unknown>;
  destroy(): void;
  nodeClient(node: never): unknown;
  sendCommand(key: string, isReadonly: boolean, args: readonly string[], options?: object): Promise<unknown>;
}

export interface NodeRedisClusterNode {
  readonly host: string;
  readonly port: number;
  readonly address: string;
  readonly client?: NodeRedisClient | undefined;
}

/** The used part of a client that finds its master through Sentinel. */
export interface NodeRedisSentinel extends NodeRedisEmitter {
  readonly isOpen: boolean;
  connect(): Promise<unknown>;
  getMasterNode(): unknown;
  sendCommand(isReadonly: boolean, args: readonly string[], options?: object): Promise<unknown>;
}

/** Location of Redis and login. Other options are passed to the client library unchanged. */
export interface RedisPlaceOptions {
  /**
   * `redis://[user:password@]host[:port][/database]`, or `rediss://` for TLS. User and password may be percent-encoded,
   * but need not be.
   */
  url?: string | undefined;
  /** Host name or address of the server. @defaultValue "localhost" */
  host?: string | undefined;
  /** Port of the server. @defaultValue 6379 */
  port?: number | undefined;
  /** The path of a Unix socket. */
  path?: string | undefined;
  /** User name; takes precedence over the one in `url`. */
  username?: string | undefined;
  /** Password; takes precedence over the one in `url`. */
  password?: string | undefined;
  /** The number of the database. @defaultValue 0 */
  db?: number | undefined;
  /** TLS options of Node's `tls.connect`; `{}` for its defaults. */
  tls?: object | undefined;
  /** The addresses of Sentinels; requires `name`. */
  sentinels?: readonly { readonly host?: string; readonly port?: number }[] | undefined;
  /** The name of the master that the Sentinels watch. */
  name?: string | undefined;
  /** User name at the Sentinels. */
  sentinelUsername?: string | undefined;
  /** Password at the Sentinels. */
  sentinelPassword?: string | undefined;
  /** The nodes and options of a Redis Cluster. */
  cluster?: RedisClusterOptions | undefined;
  /** The library that opens connections. @defaultValue the first installed library, ioredis before redis */
  client?: "ioredis" | "redis" | undefined;
  [clientOption: string]: unknown;
}

/** Options of a Cluster. Other options are passed to the client library's Cluster unchanged. */
export interface RedisClusterOptions {
  /** Any nodes of the Cluster, as addresses or `redis://host:port`; the client discovers the others. */
  nodes: readonly (string | { readonly host?: string; readonly port?: number })[];
  /** The interval at which the client refreshes its list of nodes, in milliseconds. @defaultValue 10 seconds */
  slotsRefreshInterval?: number | undefined;
  [clusterOption: string]: unknown;
}

/** A client of ioredis 5 or 6 or of node-redis 5, of one server, through Sentinel or of a Cluster. */
export type LentRedisClient = AnyRedisClient | NodeRedisClient | NodeRedisCluster | NodeRedisSentinel;
