import { type Agent, isOneOfSeveral, listenedAt, modeIn } from "./agent.ts";
import { isAllotted } from "./allotment.ts";
import { type Amounts, addTo, at, fits, isEqual, isZero, minus, takeFrom } from "./amounts.ts";
import { answer, forgetPeers, unanswered } from "./answer.ts";
import { ask, askAt } from "./ask.ts";
import { fitsBetween } from "./backfill.ts";
import { claimsBefore, isHeard, want } from "./claim.ts";
import { configure, remove } from "./configure.ts";
import { type Dimensions, dimensionsOf, indicesOf, pick } from "./dimensions.ts";
import { recognise, usedElsewhere } from "./elsewhere.ts";
import type { Effects, Event, Part } from "./events.ts";
import { hear, hearLevel } from "./hear.ts";
import { keep, keptAt } from "./kept.ts";
import { learn } from "./learn.ts";
import { type Level, levelAt, nextStepAt, pausedUntil, refuse, wholeAgain } from "./level.ts";
import { sweep, sweepMsOf } from "./members.ts";
import type { Pool } from "./pool.ts";
import { publish, withAges } from "./publish.ts";
import { roomOf } from "./room.ts";
import { publishAt, refundedMsOf, repeatsOf, reportBy, settleMsOf } from "./schedule.ts";
import { inPaceAt, paceOf } from "./steady-pace.ts";
import { mayTake, take } from "./take.ts";
import { trueUp } from "./true-up.ts";
import { boundedLevel } from "./trust.ts";

const NONE: readonly string[] = [];
const NOTHING: Effects = { taken: false, publish: undefined, ask: undefined, retry: NONE, wakeAt: Infinity };

/**
 * One event of an agent's life: changes what it knows and says what has to be done. It has no clock, no bus, no timer and
 * no chance of its own, so whatever happens to it can be repeated.
 */
export function step(agent: Agent, event: Event, now: number): Effects {
  notice(agent, now);
  if (event.type === "take") return decide(agent, event, now);
  if (event.type === "settle") return settled(agent, event, now);
  // The effects of another configuration wait for the next wake, so that callers can change several quotas consistently.
  if (event.type === "configure") {
    configure(agent, event.config, now);
    return NOTHING;
  }
  if (event.type === "remove") {
    remove(agent, event.pool, now);
    return NOTHING;
  }
  for (const pool of agent.pools.values()) look(agent, pool, now);
  switch (event.type) {
    case "want":
      poolOf(agent, event.pool).isTried = event.tried === true;
      want(agent, poolOf(agent, event.pool), event.next, event.all, now);
      break;
    case "announced":
      announced(agent, poolOf(agent, event.pool), event.level, now);
      wake(agent, now);
      break;
    case "used-elsewhere":
      usedElsewhere(agent, poolOf(agent, event.pool), event.amounts, now);
      wake(agent, now);
      break;
    case "recovered":
      recovered(agent, poolOf(agent, event.pool), now);
      wake(agent, now);
      break;
    case "start":
      agent.joinedAt = now;
      agent.startedAt = now;
      wake(agent, now);
      break;
    case "refused":
      refused(agent, poolOf(agent, event.pool), event.refused, now);
      break;
    case "hear":
      // What was planned before still holds.
      if (!hear(agent, event.message, now)) return NOTHING;
      break;
    case "answer":
      answer(agent, event.seq, event.reply, now);
      wake(agent, now);
      break;
    case "unanswered":
      unanswered(agent, event.seq);
      break;
    case "wake":
      wake(agent, now);
      break;
    case "leave": {
      const message = publish(agent, now, true);
      const goodbye = ask(agent, now, true);
      agent.left = true;
      return { taken: false, publish: message, ask: goodbye, retry: NONE, wakeAt: Infinity };
    }
  }
  const message = publish(agent, now);
  const call = ask(agent, now);
  const retry: string[] = [];
  let wakeAt = agent.config.hasBus ? Math.min(publishAt(agent, now), now + agent.config.tuning.heartbeatMs) : Infinity;
  wakeAt = Math.max(now, Math.min(wakeAt, askAt(agent)));
  for (const [name, pool] of agent.pools) {
    const tryAt = retryAt(agent, pool, now);
    if (tryAt > now) wakeAt = Math.min(wakeAt, tryAt);
    else retry.push(name);
  }
  return { taken: false, publish: message, ask: call, retry, wakeAt };
}

/** When the next waiting call of a quota should try again; Infinity when none waits. */
function retryAt(agent: Agent, pool: Pool, now: number): number {
  if (!pool.next) return Infinity;
  const tryAt = nextTryAt(agent, pool, pool.next, now);
  // Usage whose time is known only approximately may have left the window already.
  return tryAt > now && now < pool.hearsayUntil ? Math.min(tryAt, now + sweepMsOf(agent) / 2) : tryAt;
}

/** The end of a call concerns only its own quota. The next report that is due says it. */
function settled(agent: Agent, event: Extract<Event, { type: "settle" }>, now: number): Effects {
  const pool = poolOf(agent, event.pool);
  look(agent, pool, now);
  settle(agent, pool, event.more, event.dimensions, event.sentAt, now);
  const tryAt = retryAt(agent, pool, now);
  const retry = tryAt > now ? NONE : [event.pool];
  return { taken: false, publish: undefined, ask: undefined, retry, wakeAt: tryAt > now ? tryAt : Infinity };
}

/**
 * A decision looks at the pools of its request only and publishes nothing: what is to be said of it is said on waking, not
 * on the request path.
 */
function decide(agent: Agent, event: Part & { readonly also?: readonly Part[] | undefined }, now: number): Effects {
  const pool = poolOf(agent, event.pool);
  look(agent, pool, now);
  const taken = event.also ? takeAll(agent, [event, ...event.also], now) : take(agent, pool, event.cost, now);
  let wakeAt = Infinity;
  if (agent.config.hasBus && !agent.left) {
    wakeAt = Math.max(now, pool.reportAt);
    for (const part of event.also ?? []) wakeAt = Math.min(wakeAt, Math.max(now, poolOf(agent, part.pool).reportAt));
  }
  return { taken, publish: undefined, ask: undefined, retry: NONE, wakeAt };
}

/** Takes from all pools or from none. The pools of a request are independent: what one allows, another cannot take away. */
function takeAll(agent: Agent, parts: readonly Part[], now: number): boolean {
  for (const part of parts) {
    const pool = poolOf(agent, part.pool);
    look(agent, pool, now);
    if (!mayTake(agent, pool, part.cost, now)) return false;
  }
  for (const part of parts) take(agent, poolOf(agent, part.pool), part.cost, now);
  return true;
}

/** Whatever is asked next, a pool is what it is now. */
function look(agent: Agent, pool: Pool, now: number): void {
  // Whose clock is fast would see what others use leave before it has.
  pool.used.lateMs = isOneOfSeveral(agent) ? pool.config.windowMs * agent.config.tuning.drift : 0;
  pool.used.expire(now);
  pool.own.expire(now);
  pool.unnamed.expire(now);
  learn(agent, pool, now);
}

/**
 * A process that stood still has missed what went on: it listens first, as a newcomer does. The others were not silent
 * meanwhile, and may well have heard it: for that it was deaf.
 */
function notice(agent: Agent, now: number): void {
  const { hasBus, tuning } = agent.config;
  const stoodStill = hasBus && now - agent.steppedAt > tuning.deaf * tuning.heartbeatMs;
  agent.steppedAt = now;
  if (!stoodStill) return;
  agent.joinedAt = now;
  agent.unansweredSince = Infinity;
  agent.unechoedSince = Infinity;
  for (const peer of agent.peers.values()) if (peer.state === "live") peer.heardAt = now;
}

function wake(agent: Agent, now: number): void {
  if (now - agent.sweptAt >= sweepMsOf(agent)) sweep(agent, now);
  const { store } = agent;
  if (store && store.movingUntil !== -Infinity && now >= store.movingUntil) {
    store.movingUntil = -Infinity;
    forgetPeers(agent, now);
  }
  for (const pool of agent.pools.values()) {
    if (!isEqual(pool.saidLimits, pool.config.limits)) reportBy(agent, pool, now, repeatsOf(agent, pool));
    const mode = modeIn(agent, pool, now);
    if (mode === "cut-off" && !pool.kept) {
      keep(agent, pool, now);
      pool.claim = undefined;
    }
    // The change back to the bus is over.
    if (store && !store.isStore && mode !== "cut-off") pool.kept = undefined;
    if (pool.next && now < pool.hearsayUntil) trueUp(agent, pool, now);
    // After the mode has changed there may be a claim to open.
    if (pool.next) want(agent, pool, pool.next, pool.all, now);
  }
}

/**
 * Reconciles a call's estimate with its true cost: extra usage counts now, refunds count when the call was sent. Calls sent
 * a window ago or earlier have left the window, so nothing is refunded for them.
 */
function settle(
  agent: Agent,
  pool: Pool,
  correction: Amounts,
  dimensions: Dimensions | undefined,
  sentAt: number,
  now: number,
): void {
  const more = dimensions ? pick(correction, indicesOf(dimensionsOf(pool.config), dimensions)) : correction;
  const isOver = now - sentAt >= pool.config.windowMs;
  const extra = more.map((amount) => Math.max(0, amount));
  const unused = more.map((amount, i) =>
    isOver || sentAt < at(pool.countedSince, i)
      ? 0
      : Math.max(0, Math.min(-amount, at(pool.sent, i) - at(pool.back, i))),
  );
  if (isZero(extra) && isZero(unused)) return;
  const returned = unused.map((amount) => -amount);
  pool.changedAt = now;
  for (const window of [pool.used, pool.own]) {
    window.add(now, extra);
    window.add(sentAt, returned);
  }
  // The answer may have shown that before the call was over.
  recognise(pool, extra, now);
  addTo(pool.sent, extra);
  addTo(pool.unsaid, extra);
  addTo(pool.blind, extra);
  addTo(pool.back, unused);
  // Also for calls without a refund: the reported age grows, and peers place refunds earlier, which is the safe side.
  if (!isOver) pool.refundAges.add(now, sentAt, refundedMsOf(agent));
  pool.pace.add(now, minus(extra, unused), paceOf(agent, pool, now));
}

function announced(agent: Agent, pool: Pool, level: Level, now: number): void {
  hearLevel(agent, pool, boundedLevel(agent, pool, level), now);
}

/** Ends the recovery for the whole swarm: the provider shows that the full limit is available. */
function recovered(agent: Agent, pool: Pool, now: number): void {
  if (levelAt(pool.level, now) >= 1) return;
  hearLevel(agent, pool, withAges(wholeAgain(pool.level, now, agent.config.id), now), now);
  reportBy(agent, pool, now, repeatsOf(agent, pool), true);
}

function refused(agent: Agent, pool: Pool, details: Parameters<typeof refuse>[1], now: number): void {
  const { config, levelKnownAt } = pool;
  const level = refuse(pool.level, details, levelKnownAt, config.rules, now, agent.config.id);
  if (level === pool.level) return;
  pool.level = level;
  pool.levelKnownAt = now;
  pool.changedAt = now;
  // The host announces the cut at once. This says the same and more, and must not be in its way.
  reportBy(agent, pool, now + agent.config.tuning.gapMs / 2, repeatsOf(agent, pool), true);
  // The store has it for those who hear no bus, and hands out less.
  if (agent.store?.isStore) agent.store.askAt = Math.min(agent.store.askAt, now);
}

/** When the next call could go, as far as we know now; at once if it could already. Never too late, often too early. */
function nextTryAt(agent: Agent, pool: Pool, next: Amounts, now: number): number {
  const pauseEnds = pausedUntil(pool.level);
  if (pauseEnds > now) return pauseEnds;
  const mode = modeIn(agent, pool, now);
  if (mode === "served") return isAllotted(pool, next) ? now : Infinity;
  if (mode === "listening") {
    if (agent.store?.isStore) return Infinity;
    const claimAt = listenedAt(agent) - settleMsOf(agent, pool);
    return !pool.claim && claimAt > now ? claimAt : Math.max(listenedAt(agent), now + 1);
  }
  if (mode === "cut-off") return keptAt(agent, pool, next, now);
  const { claim } = pool;
  if (mode === "member") {
    if (!claim) return Infinity;
    const heardAt = claim.publishedAt + settleMsOf(agent, pool);
    if (heardAt > now) return heardAt;
    if (!isHeard(agent, pool, claim, now)) return Infinity;
  }
  const room = roomOf(agent, pool, now);
  if (!fits(next, room)) {
    const roomAt = pool.used.whenGone(minus(next, room));
    return Math.min(roomAt, Math.max(now + 1, nextStepAt(pool.level, now)));
  }
  const before = mode === "member" ? claimsBefore(pool) : undefined;
  const paceAt = inPaceAt(agent, pool, before, now);
  if (!before || !claim) return paceAt;
  takeFrom(room, before);
  if (fits(next, room)) return paceAt;
  if (fitsBetween(agent, pool, claim, next, before, now)) return inPaceAt(agent, pool, undefined, now);
  return Math.max(paceAt, pool.used.whenGone(minus(next, room)));
}

function poolOf(agent: Agent, name: string): Pool {
  const pool = agent.pools.get(name);
  if (!pool) throw new Error(`no pool ${name}`);
  return pool;
}
