import { cutLimit, growLimit } from "./adaptive-limit.ts";
import { touch } from "./agenda.ts";
import type { Agent } from "./agent.ts";
import { type Amounts, isEqual } from "./amounts.ts";
import { applyAnswer } from "./availability/answers.ts";
import { park, unpark } from "./availability/commands.ts";
import { acceptProbes, beginProbe } from "./availability/probe.ts";
import { renewParks } from "./availability/share.ts";
import { capacityOf } from "./capacity.ts";
import { configure, remove } from "./configure.ts";
import { want } from "./demand.ts";
import type { Dimensions } from "./dimensions.ts";
import { countEarlierUsage } from "./earlier-usage.ts";
import type { Effects, Event, Part } from "./events.ts";
import { countExternalUsage } from "./external-usage.ts";
import { levelAt, pausedUntil, type Refused, refuse, restored, withAges } from "./level.ts";
import { measureOf } from "./measured-cut.ts";
import { sweep, sweepMsOf } from "./membership.ts";
import { agentMode, modeOf } from "./modes/mode-of.ts";
import { publish } from "./publish.ts";
import type { Quota } from "./quota.ts";
import { answerOutdated, receive } from "./receive.ts";
import { receiveLevel } from "./receive-level.ts";
import { reconcile } from "./reconcile.ts";
import { refresh, refreshAfterMeeting } from "./refresh.ts";
import { noteChange, publishAt, repeatsOf, reportBy } from "./schedule.ts";
import { settle } from "./settle.ts";
import { learnSpread } from "./spread.ts";
import { endMove, receiveFailure, receiveReply } from "./store-reply.ts";
import { ask, askAt } from "./store-request.ts";
import { permitIn, take } from "./take.ts";
import { boundedLevel } from "./trust.ts";

const NONE: readonly string[] = [];
/** Visiting this many quotas at every event is cheaper than finding out which of them are due. */
const FEW = 8;
const NOTHING: Effects = { taken: false, publish: undefined, ask: undefined, retry: NONE, wakeAt: Infinity };

/**
 * Applies one event to an agent and returns the actions for the caller. The function has no clock, bus, timer or
 * randomness of its own, so every run can be repeated exactly.
 */
export function step(agent: Agent, event: Event, now: number): Effects {
  if (event.type === "take") return decide(agent, event, now);
  if (event.type === "settle") return settleOne(agent, event, now);
  noticeSuspension(agent, now);
  switch (event.type) {
    case "answer":
      applyAnswer(agent, event.answer, now);
      return afterAvailability(agent, now);
    case "probe":
      beginProbe(agent, event.endpoint, event.model, now);
      return afterAvailability(agent, now);
    // The effects of a configuration wait for the next wake, so that callers can change several quotas consistently.
    case "configure":
      configure(agent, event.config, now);
      return NOTHING;
    case "remove":
      remove(agent, event.quota, now);
      return NOTHING;
    default:
      refreshAfterMeeting(agent, now);
      if (event.type === "leave") return leave(agent, now);
      return apply(agent, event, now) ? effectsOf(agent, event, now) : NOTHING;
  }
}

type OtherEvent = Exclude<Event, { type: "take" | "settle" | "answer" | "probe" | "configure" | "remove" | "leave" }>;

/** Applies an event that is not part of a decision. Returns false when nothing has changed, so that earlier plans still hold. */
function apply(agent: Agent, event: OtherEvent, now: number): boolean {
  switch (event.type) {
    case "want": {
      const quota = presentQuota(agent, event.quota, now);
      quota.demand.isTried = event.tried === true;
      want(agent, quota, event.next, event.all, now);
      return true;
    }
    case "refused":
      applyRefusal(agent, presentQuota(agent, event.quota, now), event.refused, now);
      return true;
    case "receive":
      return receive(agent, event.message, now);
    case "outdated":
      return answerOutdated(agent, now);
    case "store-failure":
      receiveFailure(agent, event.seq);
      return true;
    case "park":
      park(agent, event.command, now);
      return true;
    case "unpark":
      unpark(agent, event.command, now);
      return true;
    case "announced": {
      const quota = presentQuota(agent, event.quota, now);
      receiveLevel(agent, quota, boundedLevel(agent, quota, event.level), now);
      break;
    }
    case "external-usage":
      countExternalUsage(
        agent,
        presentQuota(agent, event.quota, now),
        event.amounts,
        now,
        event.within === undefined ? undefined : agent.quotas.get(event.within),
      );
      break;
    case "earlier-usage":
      countEarlierUsage(agent, presentQuota(agent, event.quota, now), event.usage, now);
      break;
    case "renewed": {
      const { slots } = quotaOf(agent, event.quota);
      if (slots) slots.renewedAt = now;
      return false;
    }
    case "recovered":
      endRecovery(agent, presentQuota(agent, event.quota, now), now);
      break;
    case "start":
      agent.joinedAt = now;
      agent.startedAt = now;
      break;
    case "store-reply":
      receiveReply(agent, event.seq, event.reply, now);
      break;
    case "wake":
  }
  wake(agent, now);
  return true;
}

/** The effects that are due after an event: messages, requests, waiting calls that may be sent, and the next wake. */
function effectsOf(agent: Agent, event: OtherEvent, now: number): Effects {
  const message = publish(agent, now);
  const request = ask(agent, now);
  const { hasBus, tuning } = agent.config;
  const retry = planTries(agent, event, now);
  let wakeAt = hasBus ? Math.min(publishAt(agent, now), now + tuning.heartbeatMs) : Infinity;
  wakeAt = Math.max(now, Math.min(wakeAt, askAt(agent), agent.agenda.tries.next, agent.availability.acceptAt));
  return { taken: false, publish: message, ask: request, retry, wakeAt };
}

/** Plans the next tries of the quotas that an event concerns. Returns the names of those that may be served now. */
function planTries(agent: Agent, event: OtherEvent, now: number): readonly string[] {
  const { agenda } = agent;
  if (agenda.demanding.size === 0) return NONE;
  const { touched, ready } = agenda;
  if (hasChanged(agent, event, now) || agent.quotas.size <= FEW)
    for (const quota of agenda.demanding) touched.add(quota);
  for (const quota of agenda.tries.takeDue(now)) touched.add(quota);
  // A call may have failed although it seemed possible. Only a change of its own demand is no reason to try again.
  if (event.type !== "want") for (const quota of ready) touched.add(quota);
  const retry: string[] = [];
  for (const quota of touched) if (planTry(agent, quota, now) <= now) retry.push(quota.config.name);
  touched.clear();
  return retry;
}

/** True when an event may concern the tries of all quotas: a change of the mode, of the members, or of what peers have heard. */
function hasChanged(agent: Agent, event: OtherEvent, now: number): boolean {
  const { agenda, membership, link } = agent;
  const { planned } = agenda;
  const mode = agentMode(agent, now);
  const { members, weights } = membership;
  const isSame =
    planned.mode === mode &&
    planned.members === members &&
    planned.weights === weights &&
    planned.echoedSeq === link.echoedSeq;
  Object.assign(planned, { mode, members, weights, echoedSeq: link.echoedSeq });
  return !isSame || event.type === "store-reply" || event.type === "store-failure";
}

/** Plans the next try of a quota. Returns its time; Infinity when nothing waits. */
export function planTry(agent: Agent, quota: Quota, now: number): number {
  const tryAt = retryAt(agent, quota, now);
  if (!quota.demand.next) return tryAt;
  const { ready, tries } = agent.agenda;
  if (tryAt > now) ready.delete(quota);
  else ready.add(quota);
  tries.set(quota, tryAt > now ? tryAt : Infinity);
  return tryAt;
}

/** Time at which the next waiting call of a quota should try again; Infinity when none waits. */
function retryAt(agent: Agent, quota: Quota, now: number): number {
  const { next } = quota.demand;
  if (!next) return Infinity;
  const tryAt = nextTryAt(agent, quota, next, now);
  // Usage whose time is known only approximately may have left the window already.
  const isApproximate = now < quota.history.approximateUntil;
  return tryAt > now && isApproximate ? Math.min(tryAt, now + sweepMsOf(agent) / 2) : tryAt;
}

function nextTryAt(agent: Agent, quota: Quota, next: readonly number[], now: number): number {
  const pauseEndsAt = pausedUntil(quota.backoff.level);
  if (pauseEndsAt > now) return pauseEndsAt;
  const mode = modeOf(agent, quota, now);
  mode.enter(agent, quota, now);
  return mode.retryAt(agent, quota, next, now);
}

function settleOne(agent: Agent, event: Extract<Event, { type: "settle" }>, now: number): Effects {
  const quota = quotaOf(agent, event.quota);
  settleNow(agent, quota, event.more, event.dimensions, event.sentAt, now);
  const tryAt = planTry(agent, quota, now);
  const retry = tryAt > now ? NONE : [event.quota];
  return {
    taken: false,
    publish: undefined,
    ask: undefined,
    retry,
    wakeAt: wakeAfterSettling(agent, quota, tryAt, now),
  };
}

function decide(agent: Agent, event: Extract<Event, { type: "take" }>, now: number): Effects {
  const part = (of: Part): QuotaPart => ({ quota: quotaOf(agent, of.quota), cost: of.cost });
  const parts = event.also ? [event, ...event.also].map(part) : [part(event)];
  const taken = takeNow(agent, parts, now);
  return { taken, publish: undefined, ask: undefined, retry: NONE, wakeAt: wakeAfterTaking(agent, parts, now) };
}

/** The cost of a request in one quota. */
export interface QuotaPart {
  readonly quota: Quota;
  readonly cost: Amounts;
}

/**
 * Applies a `take` event: decides on a request. Visits only the quotas of the request, and publishes nothing on the request
 * path: the wake at {@link wakeAfterTaking} does.
 */
export function takeNow(agent: Agent, parts: readonly QuotaPart[], now: number): boolean {
  noticeSuspension(agent, now);
  const { length } = parts;
  if (length === 1) {
    const { quota, cost } = parts[0] as QuotaPart;
    refresh(agent, quota, now);
    return take(agent, quota, cost, now);
  }
  // From all quotas or from none. The quotas of a request are independent: a permit of one stays valid in another.
  for (let i = 0; i < length; i++) {
    const { quota, cost } = parts[i] as QuotaPart;
    refresh(agent, quota, now);
    if (!permitIn(agent, quota, cost, capacityOf(agent, quota, now), now)) return false;
  }
  for (let i = 0; i < length; i++) {
    const { quota, cost } = parts[i] as QuotaPart;
    take(agent, quota, cost, now);
  }
  return true;
}

/** Latest time of the next wake after a `take` event; Infinity when the event requires none. */
export function wakeAfterTaking(agent: Agent, parts: readonly QuotaPart[], now: number): number {
  if (!agent.config.hasBus || agent.hasLeft) return Infinity;
  let wakeAt = Infinity;
  for (let i = 0; i < parts.length; i++)
    wakeAt = Math.min(wakeAt, Math.max(now, (parts[i] as QuotaPart).quota.reporting.dueAt));
  return wakeAt;
}

/** Applies a `settle` event, which concerns only its own quota. The next report contains the correction. */
export function settleNow(
  agent: Agent,
  quota: Quota,
  more: Amounts,
  dimensions: Dimensions | undefined,
  sentAt: number,
  now: number,
): void {
  noticeSuspension(agent, now);
  refresh(agent, quota, now);
  settle(agent, quota, more, dimensions, sentAt, now);
}

/** Latest time of the next wake after a `settle` event, when the next waiting call should try again at `tryAt`. */
export function wakeAfterSettling(agent: Agent, quota: Quota, tryAt: number, now: number): number {
  const wakeAt = tryAt > now ? tryAt : Infinity;
  // A freed slot may have to be announced at once.
  if (!quota.slots || !agent.config.hasBus || agent.hasLeft) return wakeAt;
  return Math.min(wakeAt, Math.max(now, quota.reporting.dueAt));
}

/** The effects of an event that concerns no quota. A change is published at the next wake, which is due at once. */
function afterAvailability({ availability, config, hasLeft }: Agent, now: number): Effects {
  const reportAt = config.hasBus && !hasLeft ? availability.dueAt : Infinity;
  const wakeAt = Math.min(reportAt, availability.acceptAt);
  return wakeAt === Infinity ? NOTHING : { ...NOTHING, wakeAt: Math.max(now, wakeAt) };
}

/**
 * Detects that the process was suspended. It has missed messages, so it joins again. Its peers were not silent
 * meanwhile, and may have received its messages.
 */
function noticeSuspension(agent: Agent, now: number): void {
  const { hasBus, tuning } = agent.config;
  const wasSuspended = hasBus && now - agent.steppedAt > tuning.isolatedAfterHeartbeats * tuning.heartbeatMs;
  agent.steppedAt = now;
  if (!wasSuspended) return;
  agent.joinedAt = now;
  agent.link.unansweredSince = Infinity;
  agent.link.unechoedSince = Infinity;
  for (const peer of agent.membership.peers.values()) if (peer.state === "live") peer.receivedAt = now;
}

/** Performs the work that time alone makes due: suspects silent peers, enters modes, and opens claims. */
function wake(agent: Agent, now: number): void {
  const isSwept = now - agent.membership.sweptAt >= sweepMsOf(agent);
  if (isSwept) sweep(agent, now);
  endMove(agent, now);
  renewParks(agent, now);
  acceptProbes(agent, now);
  for (const quota of quotasToVisit(agent, isSwept, now)) {
    refresh(agent, quota, now);
    visit(agent, quota, now);
  }
}

/**
 * The quotas for which time may have changed something. All are visited at each sweep and when the mode of the agent has
 * changed. With a store each quota has its own mode, so all are visited as well.
 */
function quotasToVisit(agent: Agent, isSwept: boolean, now: number): Iterable<Quota> {
  const { agenda, quotas, store, config } = agent;
  const mode = agentMode(agent, now);
  if (isSwept || quotas.size <= FEW || store || mode !== agenda.visitedMode) {
    agenda.visitedMode = mode;
    return quotas.values();
  }
  const due = new Set([...agenda.ready, ...agenda.tries.takeDue(now)]);
  if (config.hasBus) for (const quota of agenda.reports.due(now)) due.add(quota);
  return due;
}

function visit(agent: Agent, quota: Quota, now: number): void {
  const { store } = agent;
  const { config, reporting, demand, isolation, history, claims } = quota;
  if (!isEqual(reporting.reportedLimits, config.limits)) reportBy(agent, quota, now, repeatsOf(agent, quota));
  if (quota.slots) growLimit(agent, quota, now);
  const mode = modeOf(agent, quota, now);
  if (mode.name === "isolated" && !isolation.budget) {
    mode.enter(agent, quota, now);
    claims.own = undefined;
  }
  // The return from the store to the bus is over.
  if (store && !store.isStore && mode.name !== "isolated") isolation.budget = undefined;
  if (!demand.next) return;
  if (!quota.slots && now < history.approximateUntil) reconcile(agent, quota, now);
  // A change of the mode may allow a claim.
  want(agent, quota, demand.next, demand.all, now);
}

/** Ends the recovery for the whole swarm: the provider shows that the full limit is available. */
function endRecovery(agent: Agent, quota: Quota, now: number): void {
  const { level } = quota.backoff;
  if (levelAt(level, now) >= 1) return;
  receiveLevel(agent, quota, withAges(restored(level, now, agent.config.id), now), now, true);
  reportBy(agent, quota, now, repeatsOf(agent, quota), true);
}

/** Cuts the level after a refusal, or extends the pause. */
function applyRefusal(agent: Agent, quota: Quota, refused: Refused, now: number): void {
  const { config, backoff } = quota;
  if (config.adaptive) {
    cutLimit(agent, quota, refused.sentAt, now);
    if (!refused.retryAfterMs) return;
  }
  // A store supports only levels that recover in steps.
  const isMeasured = config.rules.isMeasured === true && !agent.store?.isStore;
  const measure = isMeasured ? measureOf(agent, quota, refused.sentAt, now) : undefined;
  const mayLearn = measure && config.rules.learnsWindows && refused.isAnswer && !quota.slots;
  const spread = mayLearn ? learnSpread(quota, refused.sentAt, now) : undefined;
  const level = refuse(
    backoff.level,
    config.adaptive ? { ...refused, isOverload: true } : refused,
    backoff.knownAt,
    config.rules,
    now,
    agent.config.id,
    measure,
    spread,
  );
  if (level === backoff.level) return;
  backoff.level = level;
  agent.agenda.capacityVersion++;
  backoff.learnedCutAt = level.cutAt;
  backoff.knownAt = now;
  noteChange(agent, quota, now);
  // The caller announces the cut at once, in a short message. The full report must not delay it.
  reportBy(agent, quota, now + agent.config.tuning.gapMs / 2, repeatsOf(agent, quota), true);
  // The store passes the level on to agents without a bus, and grants less.
  if (agent.store?.isStore) agent.store.askAt = Math.min(agent.store.askAt, now);
}

function leave(agent: Agent, now: number): Effects {
  const message = publish(agent, now, true);
  const request = ask(agent, now, true);
  agent.hasLeft = true;
  return { taken: false, publish: message, ask: request, retry: NONE, wakeAt: Infinity };
}

/** A quota that an event names, up to date. */
function presentQuota(agent: Agent, name: string, now: number): Quota {
  const quota = quotaOf(agent, name);
  refresh(agent, quota, now);
  touch(agent.agenda, quota);
  return quota;
}

function quotaOf(agent: Agent, name: string): Quota {
  const quota = agent.quotas.get(name);
  if (!quota) throw new Error(`the agent has no quota ${JSON.stringify(name)}: a configure event must come first`);
  return quota;
}
