import type { ShareAnswer, ShareReply } from "@hivepace/core";
import { type Agent, ignore, modeIn } from "./agent.ts";
import { leftOf } from "./allotment.ts";
import { at, isZero, minus, scaled, zeros } from "./amounts.ts";
import { hearLevel } from "./hear.ts";
import { keep } from "./kept.ts";
import { countMembers } from "./members.ts";
import type { Pool } from "./pool.ts";
import { repeatsOf, reportBy } from "./schedule.ts";
import { isQuiet, movingMs } from "./store-side.ts";
import { boundedReply } from "./trust.ts";
import { BINS } from "./use-window.ts";

/** Takes over what the store has answered to the last call. What it answers to earlier ones is out of date. */
export function answer(agent: Agent, seq: number, said: ShareReply, now: number): void {
  const { store } = agent;
  if (!store || seq !== store.underWay) return;
  const reply = boundedReply(agent, said);
  store.underWay = 0;
  store.answeredAt = now;
  store.unansweredSince = Infinity;
  const answered: ShareAnswer[] = [];
  store.asked.forEach((pool, i) => {
    const told = reply.pools[i];
    // The quota was replaced since the request: this answer is about another window or other dimensions.
    if (!told || agent.pools.get(pool.config.name) !== pool) return;
    if (answerPool(agent, pool, told, now)) answered.push(told);
  });
  if (store.isStore && answered.length > 0) countTold(agent, answered);
  // An agent that holds a grant reports at every heartbeat: a store that forgets it must hear of it while it learns. So does
  // an agent that was told to wait for that, or an idle one would take the store for away after a while.
  const isActive = store.asked.some(
    (pool) =>
      agent.pools.get(pool.config.name) === pool && (pool.allotment?.isLearning === true || !isZero(leftOf(pool))),
  );
  if (isActive) store.nextMs = agent.config.tuning.heartbeatMs;
  const roll = store.config.aggregation === "auto" ? reply.pools[store.asked.length] : undefined;
  if (!roll || roll.error) return;
  store.rollStamp = Math.max(store.rollStamp, roll.stamp);
  if (store.isStore) agent.members = Math.max(1, roll.members);
  if (roll.isLearning || roll.isStore === store.isStore) {
    if (!roll.isStore && !roll.isLearning) store.elsewhereAt = -Infinity;
    return;
  }
  if (roll.isStore) enterStore(agent, now);
  else enterBus(agent, now);
}

/** There was none. The next call follows soon. */
export function unanswered({ store }: Agent, seq: number): void {
  if (store && seq === store.underWay) store.underWay = 0;
}

/** The number of members is the largest of all quotas, because not every agent uses every quota. */
function countTold(agent: Agent, answered: readonly ShareAnswer[]): void {
  agent.members = Math.max(1, ...answered.map(({ members }) => members));
  agent.weights = Math.max(agent.config.weight, ...answered.map(({ weights }) => weights));
}

/** Applies one quota's answer. Returns true when the answer carries valid limits and members. */
function answerPool(agent: Agent, pool: Pool, told: ShareAnswer, now: number): boolean {
  if (told.error !== undefined) {
    ignore(agent, told.error);
    agent.twinAt = now;
  } else if (told.limits.length !== pool.limits.length) {
    ignore(agent, "other limits");
    return false;
  } else {
    pool.limits = told.limits.map((limit, i) => Math.min(limit, at(pool.config.limits, i)));
  }
  if (told.level) {
    const { cutAgoMs, pausedAgoMs, tie: _, ...level } = told.level;
    // Ages in the place of times, as from anyone.
    hearLevel(agent, pool, { ...level, cutAt: cutAgoMs, pausedAt: pausedAgoMs }, now);
  }
  const before = pool.allotment;
  const isAgreed = before?.isAgreed ?? false;
  const stamp = Math.max(before?.stamp ?? 0, told.stamp);
  if (told.isLearning) {
    // From here on it goes on by itself, with what it had.
    if (isAgreed && !pool.kept) keep(agent, pool, now);
    const { fair = told.fair, capacity = told.capacity } = before ?? {};
    pool.allotment = { allowed: [...pool.sent], fair, capacity, stamp, isLearning: true, isAgreed };
    return told.error === undefined;
  }
  pool.kept = undefined;
  // It may have used some of it since it asked.
  const allowed = told.allowed.map((amount, i) => Math.max(amount, at(pool.sent, i)));
  pool.allotment = { allowed, fair: told.fair, capacity: told.capacity, stamp, isLearning: false, isAgreed: true };
  if (isQuiet(agent, now)) seeUse(pool, told, now);
  return true;
}

/** What all have used, for whoever asks how full it is: of others only sums are known here. */
function seeUse({ used }: Pool, told: ShareAnswer, now: number): void {
  used.expire(now);
  const more = minus(told.used, used.sum);
  if (!isZero(more)) used.add(now, more);
}

/** From the bus to the store: until the store has heard all, each goes on with what the bus had agreed on. */
function enterStore(agent: Agent, now: number): void {
  const { store } = agent;
  if (!store) return;
  for (const pool of agent.pools.values()) {
    if (modeIn(agent, pool, now) !== "listening" && !pool.kept) keep(agent, pool, now);
    pool.allotment = undefined;
    pool.claim = undefined;
  }
  store.isStore = true;
  store.movingUntil = now + movingMs(agent);
  store.askAt = now;
}

/** And back: what the others used is heard from them as by a newcomer, and meanwhile each goes on by itself. */
function enterBus(agent: Agent, now: number): void {
  const { store } = agent;
  if (!store) return;
  for (const pool of agent.pools.values()) {
    if (!pool.kept) keep(agent, pool, now);
    // Who has left since cannot say what it used. The store knew the sum; when it was is guessed, rather late than early.
    pool.used.expire(now);
    const bin = pool.used.sum.map((amount) => Math.max(0, amount) / BINS);
    const bins = Array.from({ length: BINS }, (_, b) => scaled(bin, b < 2 ? 2 : b < BINS - 2 ? 1 : 0));
    if (pool.allotment) pool.seen = { at: now, bins };
    pool.allotment = undefined;
  }
  forgetPeers(agent, now);
  store.isStore = false;
  store.returnsAt = now + movingMs(agent);
  agent.joinedAt = now;
  agent.startedAt = now;
  agent.unansweredSince = Infinity;
  agent.unechoedSince = Infinity;
  agent.publishedAt = -Infinity;
  countMembers(agent);
  for (const pool of agent.pools.values()) reportBy(agent, pool, now, repeatsOf(agent, pool));
}

/** What was heard on the bus is out of date, and so is what was made of it. */
export function forgetPeers(agent: Agent, now: number): void {
  agent.peers.clear();
  agent.newest.clear();
  agent.rememberedReports = 0;
  for (const pool of agent.pools.values()) {
    pool.claimants.clear();
    pool.claimed.fill(0);
    pool.reserved.fill(0);
    pool.before = undefined;
    pool.first = undefined;
    pool.blind.fill(0);
    pool.unsaid.fill(0);
    pool.reports.length = 0;
    pool.heardWaiting = zeros(pool.limits.length);
    pool.used.clear();
    const binMs = pool.config.windowMs / BINS;
    pool.own.bins(now).forEach((bin, b) => {
      if (!isZero(bin)) pool.used.add(now - b * binMs, bin);
    });
  }
}
