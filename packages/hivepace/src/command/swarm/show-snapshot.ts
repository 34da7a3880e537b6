import type { ObservedAgent, ObservedLimit, ObservedResource, SwarmSnapshot } from "@hivepace/distributed";
import { clean } from "../text/clean.ts";
import { showDuration } from "../text/duration.ts";
import { amount, percent } from "../text/numbers.ts";
import { table } from "../text/table.ts";

/** Everything about a swarm, as tables. */
export function showSnapshot(snapshot: SwarmSnapshot): string {
  const { resources, agents } = snapshot;
  const parts = [counted(snapshot)];
  if (resources.length > 0) parts.push(resourceTable(resources));
  else if (agents.length > 0)
    parts.push("no resource is in use: agents speak of those that were used in the last two windows");
  if (agents.length > 0) parts.push(agentTable(agents));
  const ignored = ignoredLine(snapshot.ignored);
  if (ignored !== undefined) parts.push(ignored);
  return `${parts.join("\n\n")}\n`;
}

interface LimitRow {
  readonly resource: ObservedResource;
  readonly limit: ObservedLimit;
  readonly isFirst: boolean;
}

function resourceTable(resources: readonly ObservedResource[]): string {
  const rows = resources.flatMap((resource): LimitRow[] =>
    resource.limits
      .filter(({ limit, used, waiting }, _, all) => limit < Infinity || used > 0 || waiting > 0 || all.length === 1)
      .map((limit, i) => ({ resource, limit, isFirst: i === 0 })),
  );
  return table<LimitRow>(
    [
      { title: "RESOURCE", of: ({ resource, isFirst }) => (isFirst ? clean(resource.resource) : "") },
      { title: "LIMIT", of: ({ limit }) => amount(limit.limit), isNumber: true },
      {
        title: "OF",
        of: ({ limit, resource }) => `${limit.dimension ?? "units"} in ${showDuration(resource.windowMs)}`,
      },
      { title: "NOW", of: ({ limit }) => amount(limit.total), isNumber: true },
      { title: "USED", of: ({ limit }) => amount(limit.used), isNumber: true },
      { title: "%", of: ({ limit }) => percent(limit.used, limit.total), isNumber: true },
      { title: "WAITING", of: ({ limit }) => amount(limit.waiting), isNumber: true },
      { title: "LEVEL", of: ({ resource, isFirst }) => (isFirst ? levelOf(resource) : "") },
    ],
    rows,
  );
}

/** What is left of the limit, who cut it and why, and what comes next. */
export function levelOf({ level, cause, pausedForMs, risesInMs }: ObservedResource): string {
  const parts = [`${Math.round(level * 100)} %`];
  if (cause && (level < 1 || pausedForMs > 0))
    parts.push(`cut by ${clean(cause.agentId)} ${showDuration(cause.agoMs)} ago: ${clean(cause.reason)}`);
  if (pausedForMs > 0) parts.push(`all pause for ${showDuration(pausedForMs)}`);
  if (level < 1 && risesInMs !== undefined) parts.push(`rises in ${showDuration(risesInMs)}`);
  return parts.join(", ");
}

function agentTable(agents: readonly ObservedAgent[]): string {
  return table<ObservedAgent>(
    [
      { title: "AGENT", of: ({ agentId }) => clean(agentId) },
      { title: "STATE", of: ({ state, isServed }) => (isServed && state === "live" ? "live, by the store" : state) },
      { title: "UP", of: ({ upMs }) => showDuration(upMs), isNumber: true },
      { title: "HEARD", of: ({ heardAgoMs }) => `${showDuration(heardAgoMs)} ago`, isNumber: true },
      { title: "WEIGHT", of: ({ weight }) => amount(weight), isNumber: true },
    ],
    agents,
  );
}

function counted({ agents, members }: SwarmSnapshot): string {
  const live = agents.filter(({ state }) => state === "live").length;
  const silent = agents.filter(({ state }) => state === "silent").length;
  const parts = [`${live} ${live === 1 ? "agent" : "agents"}`];
  if (silent > 0) parts.push(`${silent} silent`);
  if (members > live)
    parts.push(`${members} according to the agents themselves: a store serves them, or they are idle`);
  return parts.join(", ");
}

export function ignoredLine(ignored: SwarmSnapshot["ignored"]): string | undefined {
  const reasons = Object.entries(ignored).map(([reason, count]) => `${count} × ${clean(reason)}`);
  if (reasons.length === 0) return undefined;
  return `ignored messages: ${reasons.join(", ")} (hivepace doctor says what that means)`;
}
