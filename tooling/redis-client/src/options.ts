import { InvalidConfigError } from "@hivepace/core";
import { type HostAndPort, parseAddress } from "@hivepace/core/internal";
import type { RedisPlaceOptions } from "../types.ts";

/** The validated location: one of `server`, `sentinel` and `cluster`, and the settings common to all connections. */
export interface RedisPlace {
  readonly server: ServerPlace | undefined;
  readonly sentinel: SentinelPlace | undefined;
  readonly cluster: ClusterPlace | undefined;
  readonly login: Login;
  readonly tls: object | undefined;
  readonly client: "ioredis" | "redis" | undefined;
  /** Further options, passed to the client library. */
  readonly others: Readonly<Record<string, unknown>>;
}

export type ServerPlace = { readonly path: string } | { readonly host: string; readonly port: number };

export interface SentinelPlace {
  readonly sentinels: readonly ServerAddress[];
  readonly name: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
}

export interface ClusterPlace {
  readonly nodes: readonly ServerAddress[];
  readonly others: Readonly<Record<string, unknown>>;
}

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

export interface Login {
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly db: number | undefined;
}

const PORT = 6379;
const SENTINEL_PORT = 26379;
const PLACES = ["url", "host", "path", "sentinels", "cluster"] as const;
const URL_RULE = "redis://host:port or rediss://host:port";

/**
 * Validates the options that locate Redis.
 *
 * @throws InvalidConfigError when an option is invalid; the error never contains a password.
 */
export function redisPlace(options: RedisPlaceOptions): RedisPlace {
  const { url, host, port, path, username, password, db, tls, sentinels, name, ...more } = options;
  const { sentinelUsername, sentinelPassword, cluster, client, ...others } = more;
  const places = PLACES.filter((place) => options[place] !== undefined);
  if (places.length > 1) throw new InvalidConfigError(places.join(" and "), "given one at a time", places);
  if (client !== undefined && client !== "ioredis" && client !== "redis")
    throw new InvalidConfigError("client", '"ioredis" or "redis"', client);
  const located = url === undefined ? undefined : locate(url);
  const login = {
    username: username ?? located?.username,
    password: password ?? located?.password,
    db: db ?? located?.db,
  };
  if (login.db !== undefined && !(Number.isInteger(login.db) && login.db >= 0))
    throw new InvalidConfigError("db", "the number of a database, 0 or more", login.db);
  const common = { login, tls: tls ?? located?.tls, client, others: { ...located?.query, ...others } };
  const place = { server: undefined, sentinel: undefined, cluster: undefined };
  if (sentinels !== undefined) {
    if (!isFilled(sentinels)) throw new InvalidConfigError("sentinels", "a list of one or more addresses", sentinels);
    if (!name) throw new InvalidConfigError("name", "the name of the master that the Sentinels watch", name);
    const addresses = sentinels.map((one) => addressOf("sentinels", one, SENTINEL_PORT));
    const sentinel = { sentinels: addresses, name, username: sentinelUsername, password: sentinelPassword };
    return { ...place, ...common, sentinel };
  }
  if (cluster !== undefined) {
    const { nodes, ...clusterOthers } = cluster ?? {};
    if (!isFilled(nodes)) throw new InvalidConfigError("cluster.nodes", "a list of one or more addresses", nodes);
    const roots = nodes.map((node) => addressOf("cluster.nodes", node, PORT));
    return { ...place, ...common, ...fromNode(nodes[0], common), cluster: { nodes: roots, others: clusterOthers } };
  }
  const server =
    path === undefined
      ? (located?.server ??
        addressOf("host", { ...(host !== undefined && { host }), ...(port !== undefined && { port }) }, PORT))
      : { path };
  return { ...place, ...common, server };
}

interface Located {
  readonly server: ServerAddress;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly db: number | undefined;
  readonly tls: object | undefined;
  readonly query: Readonly<Record<string, string>>;
}

function locate(url: unknown, option = "url"): Located {
  const address = typeof url === "string" ? parseAddress(url) : undefined;
  if (!address || !/^rediss?$/.test(address.scheme) || address.hosts.length !== 1)
    throw new InvalidConfigError(option, URL_RULE, url);
  const { scheme, hosts, user, password, path, query } = address;
  const { host, port = PORT } = hosts[0] as HostAndPort;
  const { db: queryDb, ...others } = query;
  const database = path || queryDb;
  if (database !== undefined && !/^\d+$/.test(database))
    throw new InvalidConfigError(option, `${URL_RULE}, optionally followed by the number of a database`, url);
  return {
    server: { host, port },
    username: user,
    password: password || undefined,
    db: database === undefined ? undefined : Number(database),
    tls: scheme === "rediss" ? {} : undefined,
    query: others,
  };
}

/** Returns login and TLS from the first node of a Cluster, if that is a URL and the options contain neither. */
function fromNode(node: unknown, { login, tls }: Pick<RedisPlace, "login" | "tls">) {
  if (typeof node !== "string" || !node.includes("://")) return {};
  const { username, password, tls: urlTls } = locate(node, "cluster.nodes");
  const given = { ...login, username: login.username ?? username, password: login.password ?? password };
  return { login: given, tls: tls ?? urlTls };
}

function addressOf(option: string, given: unknown, defaultPort: number): ServerAddress {
  if (typeof given === "string" && given.includes("://")) return locate(given, option).server;
  const text = typeof given === "string" ? parseAddress(`redis://${given}`)?.hosts[0] : given;
  const { host = "localhost", port = defaultPort } = (text ?? {}) as Partial<ServerAddress>;
  const isAddress = typeof text === "object" && typeof host === "string" && Number.isInteger(Number(port));
  if (!isAddress) throw new InvalidConfigError(option, "an address, host and port", given);
  return { host, port: Number(port) };
}

const isFilled = (list: unknown): list is readonly unknown[] => Array.isArray(list) && list.length > 0;
