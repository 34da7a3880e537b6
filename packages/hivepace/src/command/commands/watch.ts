import type { SwarmEvent } from "@hivepace/distributed";
import { shownAddress } from "@hivepace/open-bus";
import { pause, untilAborted } from "../abortable.ts";
import { helpText } from "../help.ts";
import { parseOptions } from "../options.ts";
import { commonOptions, neededBus, SECRET_NOTE, shownNamespace, swarmOptions, swarmSettings } from "../settings.ts";
import { connect, endOfWatching } from "../swarm/connect.ts";
import { eventLine } from "../swarm/describe-event.ts";
import { listen } from "../swarm/listen.ts";
import { showSnapshot } from "../swarm/show-snapshot.ts";
import { parseDuration } from "../text/duration.ts";
import { jsonLine } from "../text/json.ts";
import { progressFor } from "../text/progress.ts";
import { EXIT, type World } from "../world.ts";

export const options = {
  ...swarmOptions,
  listen: { value: "<duration>", about: "how long to listen first. Default: until every agent is heard, at most 6s" },
  for: { value: "<duration>", about: "stop after this time. Default: never" },
  ...commonOptions,
} as const;

export const help = helpText({
  name: "watch",
  about: "Prints the events of a swarm as they happen: agents that join and leave, cuts with their reasons, recovery",
  options,
  more: `Prints the present state, then one line for each event with its time in UTC. With --json every line is an object: first {"type":"snapshot",…}, then {"type":"cut","time":…,…} and so on.
${SECRET_NOTE}
Exits with 0 on Ctrl-C and after the time of --for; with 1 when the broker cannot be reached, or when no agent was heard during the time of --for.`,
  examples: ["hivepace watch --bus nats://localhost:4222 --namespace prod", "hivepace watch --for 1m --json"],
});

export async function run(args: readonly string[], world: World): Promise<number> {
  const { values } = parseOptions(options, args);
  const settings = swarmSettings(values, world);
  const listenMs = values.listen === undefined ? undefined : parseDuration("--listen", values.listen);
  const forMs = values.for === undefined ? undefined : parseDuration("--for", values.for);
  const { stdout, signal } = world;
  const bus = shownAddress(neededBus(settings));
  const progress = progressFor(world, settings.json);
  progress.say(`listening at ${bus}, namespace ${shownNamespace(settings.namespace)}`);

  await using link = await connect(settings, world);
  const { observer } = link;
  let held: { event: SwarmEvent; at: Date }[] | undefined = [];
  const print = (event: SwarmEvent, at: Date): void => {
    if (settings.json) stdout.write(jsonLine({ type: event.type, time: at.toISOString(), ...flat(event) }));
    else stdout.write(`${eventLine(event, at)}\n`);
  };
  observer.onEvent((event) => {
    const at = new Date();
    if (held) held.push({ event, at });
    else print(event, at);
  });
  const ended = AbortSignal.any([signal, link.lost]);
  const startedAt = performance.now();
  try {
    const snapshot = await listen(observer, { listenMs, signal: ended });
    progress.end();
    const { namespace } = settings;
    if (settings.json) stdout.write(jsonLine({ type: "snapshot", time: new Date(), namespace, ...snapshot }));
    else stdout.write(`${snapshot.agents.length > 0 ? showSnapshot(snapshot) : "no agent was heard so far\n"}\n`);
    for (const { event, at } of held) print(event, at);
    held = undefined;
    if (forMs === undefined) await untilAborted(ended);
    else await pause(Math.max(0, forMs - (performance.now() - startedAt)), ended);
  } catch (error) {
    if (!ended.aborted) throw error;
  }
  progress.end();
  if (link.lost.aborted || signal.aborted || observer.snapshot().received > 0) return endOfWatching(link, world);
  return EXIT.trouble;
}

/** Returns the fields of an event without its type; those of an announcement are lifted from `update`. */
function flat(event: SwarmEvent): object {
  const { type: _, ...rest } = event;
  return "update" in rest ? rest.update : rest;
}
