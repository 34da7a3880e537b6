import { hostname, userInfo } from "node:os";
import { announceCapacity, type ObservedResource, type SwarmEvent, type SwarmObserver } from "@hivepace/distributed";
import { shownAddress } from "@hivepace/open-bus";
import { pause } from "../abortable.ts";
import { helpText } from "../help.ts";
import { parseOptions } from "../options.ts";
import { commonOptions, neededBus, SECRET_NOTE, shownNamespace, swarmOptions, swarmSettings } from "../settings.ts";
import { connect } from "../swarm/connect.ts";
import { listen } from "../swarm/listen.ts";
import { whyNotTaken } from "../swarm/why-not-taken.ts";
import { clean } from "../text/clean.ts";
import { parseDuration } from "../text/duration.ts";
import { jsonLine } from "../text/json.ts";
import { amount } from "../text/numbers.ts";
import { progressFor } from "../text/progress.ts";
import { refuse, UsageError } from "../usage-error.ts";
import { EXIT, type World } from "../world.ts";

export const options = {
  reason: { value: "<text>", about: "why, for all who will see it. Needed" },
  capacity: {
    value: "<n>",
    about:
      "what all agents together may use in a window now, of the resource's first limit. Default: half of what they may use now",
  },
  as: { value: "<name>", about: "who says so. Default: operator, with your name and this machine's" },
  ...swarmOptions,
  listen: { value: "<duration>", about: "how long to listen first. Default: until all are heard, at most 6s" },
  ...commonOptions,
} as const;

export const help = helpText({
  name: "announce",
  arguments: "<resource>",
  about: "Tells all agents that a resource has less capacity than they think, and says what became of it",
  options,
  more: `All cut once, together, and recover by themselves, as after a 429. It is ignored when it is no lower than what they have, or too soon after the last cut. A resource is named as "hivepace status" shows it: an endpoint's id, with models as id/model.
${SECRET_NOTE}
Ends with 1 when no agent took it.`,
  examples: ['hivepace announce eu --reason "the provider is in trouble" --bus nats://localhost:4222'],
});

/** A cut is told by everyone at once, and again with each heartbeat: of idle ones every five seconds. */
const ANSWER_MS = 7_000;

export async function run(args: readonly string[], world: World): Promise<number> {
  const { values, positionals } = parseOptions(options, args, 1);
  const settings = swarmSettings(values, world);
  const [resource] = positionals;
  if (!resource) throw new UsageError("of what? hivepace announce <resource> --reason <text>");
  const { reason } = values;
  if (!reason) throw new UsageError("--reason is needed: all who see it will want to know why");
  const asked = values.capacity === undefined ? undefined : capacityOf(values.capacity);
  const listenMs = values.listen === undefined ? undefined : parseDuration("--listen", values.listen);
  const agentId = values.as || operator();
  const { json, namespace, secret } = settings;
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
    const what = `nobody speaks of ${JSON.stringify(resource)}`;
    if (agents.length === 0)
      return end(false, `nobody was heard, so nothing was announced: hivepace doctor looks why`, undefined);
    const others = known === "" ? "no resource is in use" : `they speak of ${known}`;
    return end(
      false,
      `${what}, so half of it is not known: ${others}. --capacity announces it all the same`,
      undefined,
    );
  }

  progress.say(`announcing ${amount(newCapacity)} for ${clean(resource)}`);
  const taken = firstCut(observer, resource, agentId);
  await announceCapacity(
    { resource, agentId, newCapacity, reason, timestamp: new Date() },
    { bus, namespace: namespace.namespace, secret },
  );
  const cut = await Promise.race([taken, pause(ANSWER_MS, signal).then(() => undefined)]);
  if (signal.aborted) throw signal.reason;
  if (cut) {
    const level = Math.round(cut.level * 100);
    return end(
      true,
      `taken: all agents together may use ${amount(cut.newCapacity)} of ${clean(resource)} now, ${level} %`,
      newCapacity,
    );
  }
  const after = observer.snapshot();
  const isAnyone = after.agents.some(({ state }) => state === "live");
  return end(false, whyNotTaken(resource, newCapacity, before, isAnyone), newCapacity);
}

/** Resolves when an agent speaks of the cut that this one asked for. */
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
  if (!(Number.isSafeInteger(number) && number >= 1)) refuse("--capacity", "a whole number from 1 on", text);
  return number;
}

function operator(): string {
  let user = "somebody";
  try {
    user = userInfo().username;
  } catch {
    // A user that has no name on this machine, as in some containers.
  }
  return `operator ${user}@${hostname()}`.slice(0, 200);
}
