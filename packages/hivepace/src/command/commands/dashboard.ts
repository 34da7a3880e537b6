import { type EndpointUsage, startDashboard } from "@hivepace/dashboard";
import type { SwarmObserver } from "@hivepace/distributed";
import { untilAborted } from "../abortable.ts";
import { helpText } from "../help.ts";
import { parseOptions } from "../options.ts";
import { redisUrl } from "../redis/open-redis.ts";
import { endpointsOf } from "../redis/usage.ts";
import { UsagePoll } from "../redis/usage-poll.ts";
import {
  commonOptions,
  neededBus,
  SECRET_NOTE,
  type SwarmSettings,
  shownNamespace,
  swarmOptions,
  swarmSettings,
} from "../settings.ts";
import { connect, endOfWatching } from "../swarm/connect.ts";
import { parseDuration } from "../text/duration.ts";
import { jsonLine } from "../text/json.ts";
import { refuse } from "../usage-error.ts";
import type { World } from "../world.ts";

export const options = {
  ...swarmOptions,
  port: { value: "<n>", about: "port of the page. Default: 4400" },
  host: { value: "<address>", about: "address to listen on. Default: 127.0.0.1, reachable only from this machine" },
  title: { value: "<text>", about: "title of the page. Default: the namespace" },
  redis: {
    value: "<url>",
    about: "also show the counts of all instances in this Redis: redis://host:port. Default: HIVEPACE_REDIS",
  },
  window: { value: "<duration>", about: "the window of these counts. Default: 1m" },
  ...commonOptions,
} as const;

export const help = helpText({
  name: "dashboard",
  about: "Serves a web page that shows a swarm live: agents, usage, waiting requests, and cuts with their reasons",
  options,
  more: `The dashboard only listens: it is not an agent and has no share of the limit. It runs until Ctrl-C. There is no password: with another --host everyone who can reach that address sees the names and the usage of agents. With --json it prints {"url":…} once the page is served.
${SECRET_NOTE}
Exits with 0 on Ctrl-C, and with 1 when the address is not available or the broker cannot be reached.`,
  examples: ["hivepace dashboard --bus nats://localhost:4222 --namespace prod"],
});

const PORT = 4_400;
const MINUTE_MS = 60_000;
const LOCAL = ["127.0.0.1", "::1", "localhost"];

export async function run(args: readonly string[], world: World): Promise<number> {
  const { values } = parseOptions(options, args);
  const settings = swarmSettings(values, world);
  const port = values.port === undefined ? PORT : portOf(values.port);
  const windowMs = values.window === undefined ? MINUTE_MS : parseDuration("--window", values.window);
  const url = redisUrl(values.redis, settings.namespace, world);
  const { json, namespace } = settings;
  neededBus(settings);
  const title = values.title ?? `Hivepace: ${namespace.namespace || "no namespace"}`;
  const { host } = values;

  await using link = await connect(settings, world);
  const { observer } = link;
  const over = AbortSignal.any([world.signal, link.lost]);
  const poll = url === undefined ? undefined : pollOf({ settings, url, windowMs, observer, signal: over }, world);
  const globalUsage = poll && (() => usagesOf(poll));
  await using dashboard = await startDashboard({ observer, title, port, host, globalUsage });
  if (json) world.stdout.write(jsonLine({ url: dashboard.url, namespace }));
  else world.stdout.write(`${dashboard.url}\nnamespace ${shownNamespace(namespace)}. Press Ctrl-C to stop.\n`);
  // The warning goes to stderr, so that programs can parse stdout as JSON.
  if (host !== undefined && !LOCAL.includes(host))
    world.stderr.write(`hivepace: everyone who can reach ${host} sees this dashboard: there is no password\n`);
  const polled = poll?.run();
  await untilAborted(over);
  await polled;
  return endOfWatching(link, world);
}

interface PollQuestion {
  readonly settings: SwarmSettings;
  readonly url: string;
  readonly windowMs: number;
  readonly observer: SwarmObserver;
  readonly signal: AbortSignal;
}

function pollOf({ settings, url, windowMs, observer, signal }: PollQuestion, { stderr }: World): UsagePoll {
  return new UsagePoll({
    place: { url, timeoutMs: settings.timeoutMs, signal },
    namespace: settings.namespace.namespace,
    windowMs,
    endpoints: () => endpointsOf(observer.snapshot()),
    tell: (sentence) => stderr.write(`hivepace: ${sentence}\n`),
  });
}

function usagesOf(poll: UsagePoll): EndpointUsage[] {
  const { ageMs } = poll;
  return poll.usages.map(({ id, model, requests, tokens, utilization = 0, agents }) => ({
    endpoint: id,
    model,
    rpm: requests,
    tpm: tokens,
    utilization,
    agents,
    ageMs,
  }));
}

function portOf(text: string): number {
  const port = Number(text);
  if (text === "" || !(Number.isInteger(port) && port >= 0 && port <= 65_535))
    refuse("--port", "a whole number from 0 to 65535", text);
  return port;
}
