import { SyncUnavailableError } from "@hivepace/core";
import type { SwarmSnapshot } from "@hivepace/distributed";
import { shownAddress } from "@hivepace/open-bus";
import { helpText } from "../help.ts";
import { parseOptions } from "../options.ts";
import { type Endpoint, findEndpoints, parseEndpoint } from "../redis/endpoints.ts";
import { type OpenRedis, openRedis, redisUrl } from "../redis/open-redis.ts";
import { showUsage } from "../redis/show-usage.ts";
import { endpointsOf, merged, readUsage, type UsageReading } from "../redis/usage.ts";
import {
  commonOptions,
  SECRET_NOTE,
  type SwarmSettings,
  shownNamespace,
  swarmOptions,
  swarmSettings,
} from "../settings.ts";
import { connect } from "../swarm/connect.ts";
import { listen } from "../swarm/listen.ts";
import { ignoredLine, showSnapshot } from "../swarm/show-snapshot.ts";
import { parseDuration, showDuration } from "../text/duration.ts";
import { jsonLine } from "../text/json.ts";
import { type Progress, progressFor } from "../text/progress.ts";
import { UsageError } from "../usage-error.ts";
import { EXIT, type World } from "../world.ts";

export const options = {
  ...swarmOptions,
  listen: {
    value: "<duration>",
    about:
      "how long to listen. Default: until every agent is heard, at most 6s: busy agents publish every second, idle ones every five",
  },
  redis: {
    value: "<url>",
    about:
      "print the counts of all instances in this Redis, with or without --bus: redis://host:port. Default: HIVEPACE_REDIS",
  },
  endpoint: {
    value: "<id[/model]:rpm:tpm>",
    about:
      "an endpoint counted in Redis, with its limits; may be repeated. Default: the endpoints known on the bus, and those found by SCAN",
    isMany: true,
  },
  window: { value: "<duration>", about: "the window of the counts in Redis. Default: 1m" },
  ...commonOptions,
} as const;

export const help = helpText({
  name: "status",
  about:
    "Prints the state of a swarm once: every limit with its usage, waiting requests, cuts and their reasons, and the usage, share and queue of each agent",
  options,
  more: `With --redis alone no bus is needed; the output then contains the counts of all instances, but neither levels nor agents. Amounts without a limit are null in JSON.
${SECRET_NOTE}
Exits with 1 when no agent was heard, or when a server cannot be reached.`,
  examples: [
    "hivepace status --bus nats://localhost:4222 --namespace prod",
    "hivepace status --redis redis://localhost --endpoint eu/claude:1000:100000",
  ],
});

const MINUTE_MS = 60_000;

export async function run(args: readonly string[], world: World): Promise<number> {
  const { values } = parseOptions(options, args);
  const settings = swarmSettings(values, world);
  const listenMs = values.listen === undefined ? undefined : parseDuration("--listen", values.listen);
  const windowMs = values.window === undefined ? MINUTE_MS : parseDuration("--window", values.window);
  const given = (values.endpoint ?? []).map(parseEndpoint);
  const url = redisUrl(values.redis, settings.namespace, world);
  const { bus, json, namespace } = settings;
  if (url === undefined && bus === undefined)
    throw new UsageError("no swarm given: pass --bus nats://host:port, --redis redis://host:port or both");

  const progress = progressFor(world, json);
  const snapshot = bus === undefined ? undefined : await look(settings, listenMs, world, progress);
  let store: UsageReading | undefined;
  if (url !== undefined) {
    progress.say(`reading ${shownAddress(url)}`);
    store = await count(settings, { url, windowMs, given, snapshot }, world);
  }
  progress.end();
  const isHeard = isAnyone(snapshot) || (store?.endpoints.length ?? 0) > 0;
  if (json) world.stdout.write(jsonLine({ namespace, heard: isHeard, swarm: snapshot, store }));
  else world.stdout.write(statusText(settings, snapshot, store));
  return isHeard ? EXIT.fine : EXIT.trouble;
}

async function look(
  settings: SwarmSettings,
  listenMs: number | undefined,
  world: World,
  progress: Progress,
): Promise<SwarmSnapshot> {
  progress.say(`listening at ${shownAddress(settings.bus ?? "")}, namespace ${shownNamespace(settings.namespace)}`);
  await using link = await connect(settings, world);
  return await listen(link.observer, { listenMs, signal: world.signal });
}

interface Wanted {
  readonly url: string;
  readonly windowMs: number;
  readonly given: readonly Endpoint[];
  readonly snapshot: SwarmSnapshot | undefined;
}

/** Reads the given endpoints, or without any all endpoints known on the bus and in Redis. */
async function count(settings: SwarmSettings, wanted: Wanted, { signal }: World): Promise<UsageReading> {
  const { url, windowMs, given, snapshot } = wanted;
  const { namespace } = settings.namespace;
  const redis = await openRedis({ url, timeoutMs: settings.timeoutMs, signal });
  try {
    const heard = given.length > 0 || !snapshot ? [] : endpointsOf(snapshot);
    const found = given.length > 0 ? [] : await search(redis, namespace, signal, heard);
    const reader = { store: await redis.store(), namespace, windowMs };
    return await readUsage(reader, merged(given, heard, found));
  } finally {
    redis.close();
  }
}

/** Finds endpoints in Redis. Without the right to SCAN, the endpoints known on the bus suffice. */
async function search(
  redis: OpenRedis,
  namespace: string,
  signal: AbortSignal,
  heard: readonly Endpoint[],
): Promise<readonly Endpoint[]> {
  try {
    return await findEndpoints(redis, namespace, signal);
  } catch (error) {
    if (!/NOPERM/.test(String(error))) throw error;
    if (heard.length > 0) return [];
    throw new SyncUnavailableError(
      "redis",
      "this user may not SCAN: name the endpoints, such as --endpoint eu:1000:100000",
      {
        cause: error,
      },
    );
  }
}

function isAnyone(snapshot: SwarmSnapshot | undefined): boolean {
  return snapshot?.agents.some(({ state }) => state !== "left") ?? false;
}

function statusText(
  { namespace, bus }: SwarmSettings,
  snapshot: SwarmSnapshot | undefined,
  store: UsageReading | undefined,
): string {
  const parts = [`namespace ${shownNamespace(namespace)}\n`];
  if (snapshot && isAnyone(snapshot)) parts.push(showSnapshot(snapshot));
  else if (snapshot) parts.push(nobody(bus ?? "", snapshot));
  if (store && store.endpoints.length > 0) parts.push(showUsage(store));
  else if (store) parts.push("Redis contains no counts in this namespace\n");
  return parts.join("\n");
}

function nobody(bus: string, { observedMs, ignored }: SwarmSnapshot): string {
  const lines = [
    `no agent was heard at ${shownAddress(bus)} in ${showDuration(observedMs)}.`,
    "Agents publish every second, idle ones every five: --listen 30s listens longer.",
    "Check the namespace, the broker and the secret, or run hivepace doctor.",
  ];
  const unread = ignoredLine(ignored);
  return `${[...lines, ...(unread === undefined ? [] : [unread])].join("\n")}\n`;
}
