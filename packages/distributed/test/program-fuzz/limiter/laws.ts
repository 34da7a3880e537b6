import { checkNumbers } from "../core/numbers.ts";
import { checkIgnored } from "../core/spoken.ts";
import { need } from "../core/violation.ts";
import { type Agent, type Call, type State, spanMsOf } from "./state.ts";

const EPSILON = 1e-6;
/** What a swarm whose messages arrive may be above a limit for a moment, because two agents decide at once. */
const SWARM_EXCESS = 0.1;
/** The part of its share that an agent keeps at least when it hears nobody and is told to stay available. */
const KEPT = 0.3;

/** The time that a store needs to get to know a limit. */
const TAKEN_OVER_MS = 10_000;

/** Nothing is granted above a limit. */
export function checkGranted(state: State, { agent, resource, options }: Call): void {
  const { setup, clock, grants, isAlone } = state;
  const now = clock.now();
  const { name, limit, grantsBefore } = resource;
  const { cost = 1 } = options;
  grants.push({ at: now, agent: agent.index, resource: name, cost });
  if (setup.isExtreme) return;
  const isOwn = setup.sharing === "none";
  // An agent that hears nobody, not even itself, rounds what it keeps to whole calls.
  if (isOwn ? state.isReleased : state.isDisturbed) return;
  // While a store gets to know a limit with another window, agents go on with what they had of the former one.
  if (setup.hasStore && now - resource.windowSetAt < TAKEN_OVER_MS + spanMsOf(limit)) return;
  const spanMs = spanMsOf(limit);
  // A limit that was changed holds from then on. A restarted agent that is alone does not know what it used before.
  const since = Math.max(now - spanMs, isAlone || isOwn ? agent.startedAt - EPSILON : -Infinity);
  let used = 0;
  for (const [i, each] of grants.entries())
    if (i >= grantsBefore && each.resource === name && each.at > since && (!isOwn || each.agent === agent.index))
      used += each.cost;
  const most = Math.max(1, limit.capacity);
  // A bucket of its own holds a window's worth at the start and gets as much again; without a bound the level recovers to 2.
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

/** An earlier call of the same agent, with the same cost, is not overtaken. */
export function checkNotOvertaken(granted: Call): void {
  const { cost = 1, priority = 0 } = granted.options;
  for (const earlier of granted.resource.waiting) {
    const { cost: other = 1, priority: otherPriority = 0 } = earlier.options;
    const isOvertaken = earlier.order < granted.order && other === cost && otherPriority >= priority;
    need(!isOvertaken, "order", () => `a call of ${cost} overtook an earlier one`);
  }
}

/** What each agent may use of each resource that has been there for a while, and that nobody uses or wants. */
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

/** Nobody has used a resource since then, nobody waits for it, and it is not cut. */
function isIdle({ agents, grants }: State, name: string, since: number): boolean {
  if (grants.some(({ resource, at }) => resource === name && at >= since)) return false;
  return agents.every(({ limiter, resources }) => {
    const level = limiter.status().resources.find(({ resource }) => resource === name)?.level ?? 1;
    return level >= 1 && (resources.get(name)?.waiting.size ?? 0) === 0;
  });
}

/** Agents that are told to stay available keep a part of their shares when they hear nobody. */
export function checkKept(state: State, before: ReadonlyMap<string, number>): void {
  const { setup, agents } = state;
  const isJudged = setup.options.isolation === "available" && setup.sharing === "fair" && setup.bus === "perfect";
  if (!isJudged || setup.isExtreme || setup.hasStore) return;
  for (const { limiter, resources, index } of agents) {
    if (limiter.status().mode !== "cut-off") continue;
    for (const name of resources.keys()) {
      const share = before.get(`${index} ${name}`);
      const kept = limiter.getCapacity(name)?.share ?? 0;
      // Whole calls are kept: of a share of less than two calls some agents keep none.
      const isKept = share === undefined || share < 2 || kept >= KEPT * share;
      need(isKept, "agreement", () => `agent ${index} keeps ${kept} of a share of ${share} of ${name}`);
    }
  }
}
