import type { Message } from "../../../src/engine/index.ts";
import { checkNumbers } from "../core/numbers.ts";
import { checkIgnored } from "../core/spoken.ts";
import { need } from "../core/violation.ts";
import { type Agent, type Call, type State, spanMsOf } from "./state.ts";

const EPSILON = 1e-6;
/** Allowed excess of a connected swarm over a limit, as a fraction, because two agents may decide at the same time. */
const SWARM_EXCESS = 0.1;
/** Smallest fraction of its share that an isolated agent keeps with `isolation: "available"`. */
const KEPT = 0.3;

/** The longest time that a message may be under way. */
const LATE_MS = 200;
/** Time that a store needs to learn a limit, in milliseconds. */
const TAKEN_OVER_MS = 10_000;

/** Checks that no grant exceeds a limit. */
export function checkGranted(state: State, { agent, resource, options }: Call): void {
  const { setup, clock, grants, isAlone } = state;
  const now = clock.now();
  const { name, limit, grantsBefore } = resource;
  const { cost = 1 } = options;
  grants.push({ at: now, agent: agent.index, resource: name, cost });
  if (setup.isExtreme) return;
  const isOwn = setup.sharing === "none";
  // Not checked after a disturbance: an agent that receives nothing, not even its own messages, rounds its budget to
  // whole calls.
  if (isOwn ? state.isReleased : state.isDisturbed) return;
  // While a store learns a limit with another window, agents continue with their parts of the former one.
  if (setup.hasStore && now - resource.windowSetAt < TAKEN_OVER_MS + spanMsOf(limit)) return;
  const spanMs = spanMsOf(limit);
  // A changed limit applies from the change on. A lone restarted agent does not know its earlier usage.
  const since = Math.max(now - spanMs, isAlone || isOwn ? agent.startedAt - EPSILON : -Infinity);
  let used = 0;
  for (const [i, each] of grants.entries())
    if (i >= grantsBefore && each.resource === name && each.at > since && (!isOwn || each.agent === agent.index))
      used += each.cost;
  const most = Math.max(1, limit.capacity);
  // An unshared bucket starts full and refills by the same amount; with unlimited recovery the level rises to 2.
  const level = (setup.options.maxRecovery === false ? 2 : 1) * (isOwn ? 2 : 1);
  const excess = isAlone || isOwn ? EPSILON : SWARM_EXCESS;
  need(used <= most * (level + excess), "limit", () => `granted ${used} of ${most} ${name} in ${now - since} ms`);
}

/** The laws that hold after every command. */
export function checkAlways(state: State): void {
  for (const agent of state.agents) checkAgent(state, agent);
  state.signals.check(state.agents.length);
}

function checkAgent(state: State, { limiter, resources }: Agent): void {
  const status = limiter.status();
  checkNumbers(status, `status of ${limiter.agentId}`);
  checkIgnored(limiter.agentId, status.ignored);
  need(status.peers.length <= state.starts, "memory", () => `${status.peers.length} peers are known`);
  const names = status.resources.map(({ resource }) => resource).sort();
  const expected = [...resources.keys()].sort();
  need(names.join() === expected.join(), "conservation", () => `knows ${names.join()}, not ${expected.join()}`);
  for (const { resource, waiting, inFlight } of status.resources) {
    const model = resources.get(resource);
    if (!model) continue;
    need(waiting === model.waiting.size, "liveness", () => `${waiting} wait, ${model.waiting.size} should`);
    need(inFlight === model.inFlight, "conservation", () => `${inFlight} in flight, not ${model.inFlight}`);
    const capacity = limiter.getCapacity(resource);
    checkNumbers(capacity, `capacity of ${resource}`);
  }
}

/** Checks that an agent claims nothing of a resource that it has removed. */
export function checkReports({ removedAt, clock }: State, { id, quotas }: Message): void {
  for (const { name, claim } of quotas) {
    const sinceMs = clock.now() - (removedAt.get(`${id} ${name}`) ?? Infinity);
    need(
      !claim || !(sinceMs > LATE_MS),
      "conservation",
      () => `${id} claims ${name}, ${sinceMs} ms after it was removed`,
    );
  }
}

/** Checks that no earlier call of the same agent with the same cost was overtaken. */
export function checkNotOvertaken(granted: Call): void {
  const { cost = 1, priority = 0 } = granted.options;
  for (const earlier of granted.resource.waiting) {
    const { cost: other = 1, priority: otherPriority = 0 } = earlier.options;
    const isOvertaken = earlier.order < granted.order && other === cost && otherPriority >= priority;
    need(!isOvertaken, "order", () => `a call of ${cost} overtook an earlier one`);
  }
}

/** The share of each agent in each resource that has existed for a while and has neither usage nor demand. */
export function sharesOf(state: State): Map<string, number> {
  const shares = new Map<string, number>();
  const now = state.clock.now();
  for (const { limiter, resources, startedAt, index } of state.agents) {
    if (limiter.status().mode !== "member") continue;
    for (const [name, { limit, setAt }] of resources) {
      const isNew = now - Math.max(startedAt, setAt, state.disturbedAt) < limit.windowMs + 10_000;
      if (!isNew && isIdle(state, name, now - 2 * limit.windowMs))
        shares.set(`${index} ${name}`, limiter.getCapacity(name)?.share ?? 0);
    }
  }
  return shares;
}

/** Whether a resource has had no usage since `since`, has no waiters, and is not cut. */
function isIdle({ agents, grants }: State, name: string, since: number): boolean {
  if (grants.some(({ resource, at }) => resource === name && at >= since)) return false;
  return agents.every(({ limiter, resources }) => {
    const level = limiter.status().resources.find(({ resource }) => resource === name)?.level ?? 1;
    return level >= 1 && (resources.get(name)?.waiting.size ?? 0) === 0;
  });
}

/** Checks that isolated agents with `isolation: "available"` keep a part of their shares. */
export function checkKept(state: State, before: ReadonlyMap<string, number>): void {
  const { setup, agents } = state;
  const isJudged = setup.options.isolation === "available" && setup.sharing === "fair" && setup.bus === "perfect";
  if (!isJudged || setup.isExtreme || setup.hasStore) return;
  for (const { limiter, resources, index } of agents) {
    if (limiter.status().mode !== "isolated") continue;
    for (const name of resources.keys()) {
      const share = before.get(`${index} ${name}`);
      const kept = limiter.getCapacity(name)?.share ?? 0;
      // Only whole calls are kept, so that agents with a share of less than two calls may keep none.
      const isKept = share === undefined || share < 2 || kept >= KEPT * share;
      need(isKept, "agreement", () => `agent ${index} keeps ${kept} of a share of ${share} of ${name}`);
    }
  }
}
