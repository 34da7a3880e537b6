import { announceCapacity, type ObservedResource, type SwarmEvent, type SwarmObserver } from "@hivepace/distributed";
import { shownAddress } from "@hivepace/open-bus";
import { pause } from "../abortable.ts";
import { helpText } from "../help.ts";
import { parseOptions } from "../options.ts";
import { commonOptions, neededBus, SECRET_NOTE, shownNamespace, swarmOptions, swarmSettings } from "../settings.ts";
import { connect } from "../swarm/connect.ts";
import { listen } from "../swarm/listen.ts";
import { operator } from "../swarm/operator.ts";
import { whyNotTaken } from "../swarm/why-not-taken.ts";
import { clean } from "../text/clean.ts";
import { parseDuration } from "../text/duration.ts";
import { jsonLine } from "../text/json.ts";
import { amount } from "../text/numbers.ts";
import { progressFor } from "../text/progress.ts";
import { refuse, UsageError } from "../usage-error.ts";
import { EXIT, type World } from "../world.ts";

export const options = {
  reason: { value: "<text>", about: "the reason, shown to everyone who sees the cut. Required" },
  capacity: {
    value: "<n>",
    about:
      "the new capacity of all agents together per window, for the resource's first limit. Default: half of the present capacity",
  },
  as: { value: "<name>", about: "the name of the announcer. Default: operator, with your user name and host name" },
  ...swarmOptions,
  listen: { value: "<duration>", about: "how long to listen first. Default: until every agent is heard, at most 6s" },
  ...commonOptions,
} as const;

export const help = helpText({
  name: "announce",
  arguments: "<resource>",
  about: "Tells all agents that a resource has less capacity than configured, and reports whether they applied the cut",
  options,
  more: `All agents cut once, together, and recover by themselves, as after a 429. Agents ignore a capacity that is not below the present one, or that follows the last cut too closely. Name a resource as "hivepace status" prints it: the id of an endpoint, or id/model.
${SECRET_NOTE}
Exits with 1 when no agent applied the cut.`,
  examples: ['hivepace announce eu --reason "the provider is in trouble" --bus nats://localhost:4222'],
});

/**
 * Milliseconds to wait for a reaction. Agents publish a cut at once, and repeat it with each heartbeat, which idle
 * agents send every five seconds.
 */
const ANSWER_MS = 7_000;

export async function run(args: readonly string[], world: World): Promise<number> {
  const { values, positionals } = parseOptions(options, args, 1);
  const settings = swarmSettings(values, world);
  const [resource] = positionals;
  if (!resource) throw new UsageError("no resource given: hivepace announce <resource> --reason <text>");
  const { reason } = values;
  if (!reason) throw new UsageError("--reason is required: every agent reports it as the cause of the cut");
  const asked = values.capacity === undefined ? undefined : capacityOf(values.capacity);
  const listenMs = values.listen === undefined ? undefined : parseDuration("--listen", values.listen);
  const agentId = values.as || operator();
  const { json, namespace, secret, swarmId } = settings;
  const { stdout, signal } = world;
  const progress = progressFor(world, json);
  progress.say(`listening at ${shownAddress(neededBus(settings))}, namespace ${shownNamespace(namespace)}`);

  await using link = await connect(settings, world);
  const { bus, observer } = link;
  const { agents, resources } = await listen(observer, { listenMs, signal });
  const before = resources.find((one) => one.resource === resource);
  const newCapacity = asked ?? halfOf(before);
  const end = (isTaken: boolean, sentence: string, announced: number | undefined): number => {
    progress.end();
    if (json)
      stdout.write(jsonLine({ resource, agentId, reason, newCapacity: announced, taken: isTaken, outcome: sentence }));
    else stdout.write(`${sentence}\n`);
    return isTaken ? EXIT.fine : EXIT.trouble;
  };
  if (newCapacity === undefined) {
    const known = resources.map((one) => clean(one.resource)).join(", ");
    const what = `no agent uses ${JSON.stringify(resource)}`;
    if (agents.length === 0)
      return end(false, `no agent was heard, so nothing was announced: hivepace doctor finds out why`, undefined);
    const others = known === "" ? "no resource is in use" : `agents use ${known}`;
    return end(false, `${what}, so its capacity is unknown: ${others}. Pass --capacity to announce anyway`, undefined);
  }

  progress.say(`announcing ${amount(newCapacity)} for ${clean(resource)}`);
  const taken = firstCut(observer, resource, agentId);
  await announceCapacity(
    { resource, agentId, newCapacity, reason, timestamp: new Date() },
    { bus, namespace: namespace.namespace, secret, swarmId },
  );
  const cut = await Promise.race([taken, pause(ANSWER_MS, signal).then(() => undefined)]);
  if (signal.aborted) throw signal.reason;
  if (cut) {
    const level = Math.round(cut.level * 100);
    return end(
      true,
      `applied: all agents together may now use ${amount(cut.newCapacity)} of ${clean(resource)}, ${level} %`,
      newCapacity,
    );
  }
  const after = observer.snapshot();
  const isAnyone = after.agents.some(({ state }) => state === "live");
  return end(false, whyNotTaken(resource, newCapacity, before, isAnyone), newCapacity);
}

/** Resolves when an agent publishes a cut caused by this announcement. */
function firstCut(observer: SwarmObserver, resource: string, agentId: string) {
  return new Promise<Extract<SwarmEvent, { type: "cut" }>>((resolve) => {
    observer.onEvent((event) => {
      if (event.type === "cut" && event.resource === resource && event.agentId === agentId) resolve(event);
    });
  });
}

function halfOf(resource: ObservedResource | undefined): number | undefined {
  const limit = resource?.limits.find(({ total }) => total < Infinity);
  return limit && Math.max(1, Math.floor(limit.total / 2));
}

function capacityOf(text: string): number {
  const number = Number(text);
  if (!(Number.isSafeInteger(number) && number >= 1)) refuse("--capacity", "a whole number of 1 or more", text);
  return number;
}
