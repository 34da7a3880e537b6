import type { SwarmEvent, SwarmObserver } from "@hivepace/distributed";
import { parkEndpoint, unparkEndpoint } from "@hivepace/distributed";
import { shownAddress } from "@hivepace/open-bus";
import { pause } from "../abortable.ts";
import { parseOptions } from "../options.ts";
import { commonOptions, neededBus, shownNamespace, swarmOptions, swarmSettings } from "../settings.ts";
import { clean } from "../text/clean.ts";
import { parseDuration, showDuration } from "../text/duration.ts";
import { jsonLine } from "../text/json.ts";
import { progressFor } from "../text/progress.ts";
import { UsageError } from "../usage-error.ts";
import { EXIT, type World } from "../world.ts";
import { connect } from "./connect.ts";
import { operator } from "./operator.ts";

export const parkOptions = {
  reason: { value: "<text>", about: "the reason, shown to everyone who sees the change. Required to park" },
  model: { value: "<name>", about: "only this model of the endpoint. Default: the endpoint with all its models" },
  for: { value: "<duration>", about: "how long to park. Default: until unparked" },
  as: { value: "<name>", about: "the name of the announcer. Default: operator, with your user name and host name" },
  ...swarmOptions,
  ...commonOptions,
} as const;

/**
 * Milliseconds to wait for a reaction. Agents report a change at once, and again with each heartbeat, which idle agents send
 * every five seconds.
 */
const ANSWER_MS = 7_000;

/** Parks or unparks an endpoint, and prints whether agents applied the decision. */
export async function decide(action: "park" | "unpark", args: readonly string[], world: World): Promise<number> {
  const { values, positionals } = parseOptions(parkOptions, args, 1);
  const settings = swarmSettings(values, world);
  const [endpoint] = positionals;
  if (!endpoint) throw new UsageError(`no endpoint given: hivepace ${action} <endpoint> --reason <text>`);
  const { model } = values;
  const reason = values.reason ?? (action === "unpark" ? "unparked" : "");
  if (!reason) throw new UsageError("--reason is required: every agent reports it as the cause of the change");
  const forMs = values.for === undefined ? undefined : parseDuration("--for", values.for);
  if (action === "unpark" && forMs !== undefined) throw new UsageError("--for is an option of hivepace park only");
  const agentId = values.as || operator();
  const { json, namespace, secret } = settings;
  const { stdout, signal } = world;
  const progress = progressFor(world, json);
  progress.say(`publishing at ${shownAddress(neededBus(settings))}, namespace ${shownNamespace(namespace)}`);
  await using link = await connect(settings, world);
  const { bus, observer } = link;
  const name = model === undefined ? clean(endpoint) : `${clean(model)} of ${clean(endpoint)}`;
  const taken = changed(observer, action, endpoint, model);
  const decision = { endpoint, model, reason, agentId };
  const place = { bus, namespace: namespace.namespace, secret };
  if (action === "park") await parkEndpoint({ ...decision, forMs }, place);
  else await unparkEndpoint(decision, place);
  const event = await Promise.race([taken, pause(ANSWER_MS, signal).then(() => undefined)]);
  if (signal.aborted) throw signal.reason;
  progress.end();
  const sentence = event
    ? `applied: ${name} is ${event.state}${forOf(event)}`
    : action === "park"
      ? "no agent applied the decision: hivepace doctor finds out why"
      : `no agent reported ${name}: it was not closed, or no agent is listening`;
  if (json)
    stdout.write(jsonLine({ endpoint, model, action, agentId, reason, taken: event !== undefined, outcome: sentence }));
  else stdout.write(`${sentence}\n`);
  return event ? EXIT.fine : EXIT.trouble;
}

type Change = Extract<SwarmEvent, { type: "availability" }>;

/** Resolves when an agent reports the decided state. */
function changed(
  observer: SwarmObserver,
  action: "park" | "unpark",
  endpoint: string,
  model: string | undefined,
): Promise<Change> {
  const state = action === "park" ? "parked" : "available";
  return new Promise((resolve) => {
    observer.onEvent((event) => {
      if (event.type !== "availability" || event.resource !== endpoint || event.state !== state) return;
      // Without a model, unparking opens all models, each of which is reported.
      if (event.model === model || (action === "unpark" && model === undefined)) resolve(event);
    });
  });
}

function forOf({ state, retryAfterMs }: Change): string {
  if (state === "available") return " again";
  return retryAfterMs === undefined ? " until it is unparked" : ` for ${showDuration(retryAfterMs)}`;
}
