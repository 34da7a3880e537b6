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
      "how long to listen. Default: until all are heard, at most 6s: agents with work are heard every second, idle ones every five",
  },
  redis: {
    value: "<url>",
    about: "also, or only, what instances have counted in this Redis: redis://host:port. Default: HIVEPACE_REDIS",
  },
  endpoint: {
    value: "<id[/model]:rpm:tpm>",
    about:
      "an endpoint that is counted in Redis, with its limits; may be repeated. Default: those of the bus, and those found by SCAN",
    isMany: true,
  },
  window: { value: "<duration>", about: "in which the instances count in Redis. Default: 1m" },
  ...commonOptions,
} as const;

export const help = helpText({
  name: "status",
  about: "One look at a swarm: every limit, what is used of it, who waits, who cut it and why, and who is there",
  options,
  more: `With --redis alone it needs no bus: then it shows what all instances have counted, and neither levels nor agents. Amounts without a limit are null in JSON.
${SECRET_NOTE}
Ends with 1 when nobody was heard, or when a server cannot be reached.`,
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
    throw new UsageError("of which swarm? --bus nats://host:port, --redis redis://host:port or both");

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

/** Whoever names endpoints wants those; else all that the bus or Redis know of. */
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

/** Without the right to look for keys, those of the bus have to do. */
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
    throw new SyncUnavailableError("redis", "this user may not SCAN: name what to look at, --endpoint eu:1000:100000", {
      cause: error,
    });
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
  else if (store) parts.push("nothing is counted in Redis in this namespace\n");
  return parts.join("\n");
}

function nobody(bus: string, { observedMs, ignored }: SwarmSnapshot): string {
  const lines = [
    `nobody was heard at ${shownAddress(bus)} in ${showDuration(observedMs)}.`,
    "Agents are heard every second, idle ones every five: --listen 30s listens longer.",
    "Is it their namespace, their broker, their secret? hivepace doctor looks.",
  ];
  const unread = ignoredLine(ignored);
  return `${[...lines, ...(unread === undefined ? [] : [unread])].join("\n")}\n`;
}
