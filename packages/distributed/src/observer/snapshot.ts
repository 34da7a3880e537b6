import { addTo, at, fairShares, levelAt, nextStepAt, reportedLimit, zeros } from "../engine/index.ts";
import { DIMENSIONS } from "../hive/amounts-of.ts";
import { isOfSlots } from "../limiter/slot-config.ts";
import { levelStatus } from "../limiter/status.ts";
import { KEY_PREFIX, UNLIMITED } from "../wire/subjects.ts";
import { type Incarnation, type Incarnations, type ReceivedReport, usedNow } from "./incarnations.ts";
import type { Levels } from "./levels.ts";
import type {
  ObservedAgent,
  ObservedDimension,
  ObservedLimit,
  ObservedResource,
  ObservedUse,
} from "./observer-types.ts";

/** The newest incarnation of each agent, by name. */
export function agentsOf(incarnations: Iterable<Incarnation>, now: number): ObservedAgent[] {
  const newest = new Map<string, Incarnation>();
  for (const one of incarnations)
    if (one.incarnation >= (newest.get(one.id)?.incarnation ?? 0)) newest.set(one.id, one);
  const agents = [...newest.values()].map(({ id, state, receivedAt, upMs, weight, isAllocated }) => {
    const lastMessageAgoMs = now - receivedAt;
    return { agentId: id, state, lastMessageAgoMs, upMs: upMs + lastMessageAgoMs, weight, isAllocated };
  });
  return agents.sort(byName(({ agentId }) => agentId));
}

/** Number of live agents, or a larger number that one of them reports. */
export function membersOf(incarnations: Iterable<Incarnation>): number {
  const ids = new Set<string>();
  let told = 0;
  for (const { id, state, members } of incarnations) {
    if (state !== "live") continue;
    ids.add(id);
    told = Math.max(told, members);
  }
  return Math.max(ids.size, told);
}

/** The endpoints of a swarm, and the tenant keys in use, each with its limits. */
export function quotasOf(
  incarnations: Incarnations,
  levels: Levels,
  now: number,
): { readonly resources: ObservedResource[]; readonly keys: ObservedResource[] } {
  const [resources, keys]: [ObservedResource[], ObservedResource[]] = [[], []];
  for (const name of incarnations.resources) {
    const quota = resourceOf(name, incarnations, levels, now);
    if (name.startsWith(KEY_PREFIX)) keys.push({ ...quota, resource: keyOf(name) });
    else resources.push(quota);
  }
  for (const quotas of [resources, keys]) quotas.sort(byName(({ resource }) => resource));
  return { resources, keys };
}

/** Returns the tenant key of a quota name. A name in another format is returned unchanged. */
function keyOf(name: string): string {
  const key = name.slice(KEY_PREFIX.length);
  try {
    return key.startsWith("/") ? decodeURIComponent(key.slice(1)) : key;
  } catch {
    return key;
  }
}

/** Amount that all agents may use in a window now, in the first dimension with a limit. */
export function mainTotal(resource: string, incarnations: Incarnations, levels: Levels, now: number): number {
  const shape = shapeOf(holdersOf(resource, incarnations));
  const totals = totalsOf(shape, levelAt(levels.of(resource), now));
  return totals.find((amount) => amount < Infinity) ?? Infinity;
}

interface Holder {
  readonly agent: Incarnation;
  readonly received: ReceivedReport;
}

interface Shape {
  readonly windowMs: number;
  /** The smallest limits of all live agents. */
  readonly limits: readonly number[];
  readonly holders: readonly Holder[];
  /** True for a limit on calls under way. */
  readonly isSlots: boolean;
}

const SLOT_NAMES: readonly ObservedDimension[] = ["inFlight"];

function resourceOf(resource: string, incarnations: Incarnations, levels: Levels, now: number): ObservedResource {
  const shape = shapeOf(holdersOf(resource, incarnations));
  const { limits, holders, isSlots } = shape;
  const level = levels.of(resource);
  const status = levelStatus(level, now);
  const totals = totalsOf(shape, status.level);
  const agents = usesOf(holders, totals, now);
  const usedSince = incarnations.usedSince(resource, limits.length);
  const sum = (of: (use: ObservedUse) => readonly number[], i: number): number =>
    agents.reduce((all, use) => all + at(of(use), i), 0);
  const names = isSlots ? SLOT_NAMES : dimensionsOf(resource, limits.length);
  const risesAt = nextStepAt(level, now);
  return {
    resource,
    windowMs: isSlots ? 0 : shape.windowMs,
    limits: limits.map(
      (limit, i): ObservedLimit => ({
        dimension: names[i],
        limit: limit >= UNLIMITED ? Infinity : limit,
        total: at(totals, i),
        used: sum(({ used }) => used, i),
        usedSince: at(usedSince, i),
        waiting: sum(({ waiting }) => waiting, i),
      }),
    ),
    ...status,
    risesInMs: risesAt === Infinity ? undefined : risesAt - now,
    agents,
  };
}

function holdersOf(resource: string, incarnations: Incarnations): Holder[] {
  const holders: Holder[] = [];
  for (const agent of incarnations.holdersOf(resource)) {
    const received = agent.quotas.get(resource);
    if (received) holders.push({ agent, received });
  }
  return holders;
}

/** Agents may be configured differently. Only those with the most common window and number of limits count. */
function shapeOf(all: readonly Holder[]): Shape {
  const live = all.filter(({ agent }) => agent.state === "live");
  const groups = new Map<string, Holder[]>();
  for (const holder of live.length > 0 ? live : all) {
    const key = shapeKey(holder.received.report);
    const group = groups.get(key);
    if (group) group.push(holder);
    else groups.set(key, [holder]);
  }
  const [most = []] = [...groups.values()].sort((a, b) => b.length - a.length);
  const [one] = most;
  if (!one) return { windowMs: 0, limits: [], holders: [], isSlots: false };
  const key = shapeKey(one.received.report);
  const limits = one.received.report.limits.map((_, i) =>
    Math.min(...most.map(({ received }) => at(received.report.limits, i))),
  );
  const holders = all.filter(({ received }) => shapeKey(received.report) === key);
  return { windowMs: one.received.report.windowMs, limits, holders, isSlots: isOfSlots(one.received.report) };
}

/** The amounts that all agents may use. Slots are whole, and their number may adapt. */
function totalsOf({ limits, holders, isSlots }: Shape, level: number): number[] {
  if (!isSlots) return limits.map((limit) => total(limit, level));
  const adaptive = reportedLimit(holders.map(({ received }) => received.report));
  return limits.map((limit) => Math.min(adaptive, Math.floor(total(limit, level))));
}

function shapeKey({ windowMs, limits }: ReceivedReport["report"]): string {
  return `${windowMs} ${limits.length}`;
}

interface Total {
  readonly agentId: string;
  readonly used: number[];
  readonly waiting: number[];
  /** Demand of waiting requests and of denied tries: both count in the fair division. */
  readonly demand: number[];
  waitedMs: number;
  heldMs: number;
  /**
   * Total weight of the live incarnations; 0 for a departed agent. Two live incarnations are two processes with the
   * same id.
   */
  weight: number;
}

/** Usage by agent. Earlier incarnations contribute their usage, but not their demand. */
function usesOf(holders: readonly Holder[], totals: readonly number[], now: number): ObservedUse[] {
  const { length } = totals;
  const byId = new Map<string, Total>();
  for (const { agent, received } of holders) {
    const { id: agentId, state, weight } = agent;
    const none = {
      used: zeros(length),
      waiting: zeros(length),
      demand: zeros(length),
      waitedMs: 0,
      heldMs: 0,
      weight: 0,
    };
    const sum = byId.get(agentId) ?? { agentId, ...none };
    byId.set(agentId, sum);
    const used = usedNow(received, now);
    addTo(sum.used, used);
    const { heldMs } = received.report;
    if (heldMs !== undefined && at(used, 0) > 0) sum.heldMs = Math.max(sum.heldMs, heldMs + now - received.at);
    if (state !== "live") continue;
    const { demand: waiting, tried, claim } = received.report;
    addTo(sum.demand, waiting);
    if (!tried) addTo(sum.waiting, waiting);
    sum.weight += weight;
    if (claim && !tried) sum.waitedMs = Math.max(sum.waitedMs, claim.waitedMs + now - received.at);
  }
  const all = [...byId.values()].sort(byName(({ agentId }) => agentId));
  const shares = sharesOf(
    all.filter(({ weight }) => weight > 0),
    totals,
  );
  return all.map(({ weight: _, demand: _demand, ...use }) => ({
    ...use,
    share: shares.get(use.agentId) ?? zeros(length),
  }));
}

/** Max-min fair shares by usage and demand; undemanded capacity is divided by weight, as agents do. */
function sharesOf(live: readonly Total[], totals: readonly number[]): Map<string, number[]> {
  const weights = live.map(({ weight }) => weight);
  const weightSum = weights.reduce((sum, weight) => sum + weight, 0);
  const byDimension = totals.map((amount, i) => {
    if (amount === Infinity) return live.map(() => Infinity);
    const demands = live.map(({ used, demand }) => Math.max(0, at(used, i) + at(demand, i)));
    const fair = fairShares(amount, demands, weights);
    const rest = Math.max(0, amount - fair.reduce((sum, share) => sum + share, 0));
    return fair.map((share, j) => share + (rest * at(weights, j)) / weightSum);
  });
  return new Map(live.map(({ agentId }, j) => [agentId, byDimension.map((shares) => at(shares, j))]));
}

function total(limit: number, level: number): number {
  return limit >= UNLIMITED ? Infinity : Math.round(limit * level * 1e6) / 1e6;
}

/**
 * Units of the dimensions. Messages with the usual dimensions omit their names; the number of limits determines them.
 */
function dimensionsOf(resource: string, length: number): readonly (ObservedDimension | undefined)[] {
  if (length < 2 || resource.includes("@")) return [];
  return length === DIMENSIONS.length ? DIMENSIONS : DIMENSIONS.slice(0, 2);
}

function byName<T>(of: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => (of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0);
}
