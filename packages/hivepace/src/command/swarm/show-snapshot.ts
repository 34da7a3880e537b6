import type {
  ObservedAgent,
  ObservedAvailability,
  ObservedLimit,
  ObservedResource,
  ObservedUse,
  SwarmSnapshot,
} from "@hivepace/distributed";
import { clean } from "../text/clean.ts";
import { showDuration } from "../text/duration.ts";
import { amount, isUnlimited, percent } from "../text/numbers.ts";
import { type Column, table } from "../text/table.ts";

/** Renders the whole state of a swarm as tables. */
export function showSnapshot(snapshot: SwarmSnapshot): string {
  const { resources, keys, agents } = snapshot;
  const parts = [counted(snapshot)];
  if (resources.length > 0) parts.push(resourceTable("RESOURCE", resources));
  else if (agents.length > 0) parts.push("no resource is in use: agents report resources used in the last two windows");
  if (keys.length > 0) parts.push(keyTable(keys));
  if (snapshot.availability.length > 0) parts.push(availabilityTable(snapshot.availability));
  if (agents.length > 0) parts.push(agentTable(agents));
  if (resources.some((resource) => resource.agents.length > 0)) parts.push(useTable(resources));
  const ignored = ignoredLine(snapshot.ignored);
  if (ignored !== undefined) parts.push(ignored);
  return `${parts.join("\n\n")}\n`;
}

interface LimitRow {
  readonly resource: ObservedResource;
  readonly limit: ObservedLimit;
  readonly isFirst: boolean;
}

/** Bounds the table of keys, of which there may be one for each tenant. */
const MOST_KEYS = 20;

function keyTable(keys: readonly ObservedResource[]): string {
  const pressure = ({ limits }: ObservedResource): number => Math.max(0, ...limits.map(pressureOf));
  const worst = [...keys].sort((a, b) => pressure(b) - pressure(a)).slice(0, MOST_KEYS);
  const more =
    keys.length > worst.length ? `\nand ${keys.length - worst.length} keys that use less of their limits` : "";
  return resourceTable("KEY", worst) + more;
}

function resourceTable(title: string, resources: readonly ObservedResource[]): string {
  const rows = resources.flatMap((resource): LimitRow[] =>
    resource.limits
      .filter(({ limit, used, waiting }, _, all) => !isUnlimited(limit) || used > 0 || waiting > 0 || all.length === 1)
      .map((limit, i) => ({ resource, limit, isFirst: i === 0 })),
  );
  return table<LimitRow>(
    [
      { title, of: ({ resource, isFirst }) => (isFirst ? clean(resource.resource) : "") },
      { title: "LIMIT", of: ({ limit }) => amount(limit.limit), isNumber: true },
      {
        title: "OF",
        of: ({ limit, resource }) => unitOf(limit, resource),
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

/** Renders the endpoints and models that are not available. */
function availabilityTable(closed: readonly ObservedAvailability[]): string {
  return table<ObservedAvailability>(
    [
      { title: "ENDPOINT", of: ({ resource }) => clean(resource) },
      { title: "MODEL", of: ({ model = "all" }) => clean(model) },
      { title: "STATE", of: ({ state }) => state },
      { title: "SINCE", of: ({ sinceMs }) => showDuration(sinceMs), isNumber: true },
      {
        title: "TRIED IN",
        of: ({ retryAfterMs }) => (retryAfterMs === undefined ? "" : showDuration(retryAfterMs)),
        isNumber: true,
      },
      { title: "BY", of: ({ agentId }) => clean(agentId) },
      { title: "WHY", of: ({ reason }) => clean(reason) },
    ],
    closed,
  );
}

/** Describes the level: the remaining fraction, the cause of a cut, and the next step of recovery. */
export function levelOf({ level, cause, pausedForMs, risesInMs }: ObservedResource): string {
  const parts = [`${Math.round(level * 100)} %`];
  if (cause && (level < 1 || pausedForMs > 0))
    parts.push(`cut by ${clean(cause.agentId)} ${showDuration(cause.agoMs)} ago: ${clean(cause.reason)}`);
  if (pausedForMs > 0) parts.push(`all pause for ${showDuration(pausedForMs)}`);
  if (level < 1 && risesInMs !== undefined) parts.push(`rises in ${showDuration(risesInMs)}`);
  return parts.join(", ");
}

interface UseRow {
  readonly resource: ObservedResource;
  readonly use: ObservedUse;
  /** The index of the binding dimension. */
  readonly index: number;
  readonly isFirst: boolean;
}

/** Renders each agent's part of each resource, in the binding dimension, which is the fullest one. */
function useTable(resources: readonly ObservedResource[]): string {
  const rows = resources.flatMap((resource): UseRow[] => {
    const pressures = resource.limits.map(pressureOf);
    const index = Math.max(0, pressures.indexOf(Math.max(...pressures)));
    return resource.agents.map((use, i) => ({ resource, use, index, isFirst: i === 0 }));
  });
  return table<UseRow>(
    [
      { title: "RESOURCE", of: ({ resource, isFirst }) => (isFirst ? clean(resource.resource) : "") },
      { title: "AGENT", of: ({ use }) => clean(use.agentId) },
      { title: "USED", of: ({ use, index }) => known(use.used[index]), isNumber: true },
      { title: "SHARE", of: ({ use, index }) => known(use.share[index]), isNumber: true },
      { title: "QUEUE", of: ({ use, index }) => known(use.waiting[index]), isNumber: true },
      {
        title: "OF",
        of: ({ resource, index }) => unitOf(resource.limits[index], resource),
      },
      { title: "QUEUE FOR", of: ({ use }) => age(use.waitedMs), isNumber: true },
      ...(rows.some(({ use }) => use.heldMs > 0) ? [OLDEST_CALL] : []),
    ],
    rows,
  );
}

const age = (ms: number): string => (ms > 0 ? showDuration(ms) : "");

/** Names the agents whose calls hold a slot for long. */
const OLDEST_CALL: Column<UseRow> = { title: "OLDEST CALL", of: ({ use }) => age(use.heldMs), isNumber: true };

function unitOf(limit: ObservedLimit | undefined, { windowMs }: ObservedResource): string {
  if (limit?.dimension === "inFlight") return "calls under way";
  return `${limit?.dimension ?? "units"} in ${showDuration(windowMs)}`;
}

const known = (value: number | undefined): string => (value === undefined ? "unknown" : amount(value));

/** Usage and queue as a fraction of the present capacity; negative without a limit. */
function pressureOf({ used, waiting, total }: ObservedLimit): number {
  return isUnlimited(total) ? -1 : (used + waiting) / Math.max(total, 1e-9);
}

function agentTable(agents: readonly ObservedAgent[]): string {
  return table<ObservedAgent>(
    [
      { title: "AGENT", of: ({ agentId }) => clean(agentId) },
      {
        title: "STATE",
        of: ({ state, isAllocated }) => (isAllocated && state === "live" ? "live, by the store" : state),
      },
      { title: "UP", of: ({ upMs }) => showDuration(upMs), isNumber: true },
      { title: "HEARD", of: ({ lastMessageAgoMs }) => `${showDuration(lastMessageAgoMs)} ago`, isNumber: true },
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
  if (members > live) parts.push(`${members} according to the agents: a store serves the others, or they are idle`);
  return parts.join(", ");
}

export function ignoredLine(ignored: SwarmSnapshot["ignored"]): string | undefined {
  const reasons = Object.entries(ignored).map(([reason, count]) => `${count} × ${clean(reason)}`);
  if (reasons.length === 0) return undefined;
  return `ignored messages: ${reasons.join(", ")} (hivepace doctor explains them)`;
}
