import type { AllocationReply, QuotaReply } from "@hivepace/core";
import { type Agent, ignore } from "./agent.ts";
import { at, isZero, minus, scaled, zeros } from "./amounts.ts";
import { unspentOf } from "./grant.ts";
import { enterIsolation } from "./isolation-budget.ts";
import { countMembers } from "./membership.ts";
import { modeOf } from "./modes/mode-of.ts";
import type { Quota } from "./quota.ts";
import { receiveLevel } from "./receive-level.ts";
import { repeatsOf, reportBy } from "./schedule.ts";
import { receiveJournal } from "./store-journal.ts";
import { isQuiet, movingMs } from "./store-mode.ts";
import { boundedReply } from "./trust.ts";
import { BINS } from "./usage-window.ts";

/** Applies the store's reply to the latest request. Replies to earlier requests are out of date. */
export function receiveReply(agent: Agent, seq: number, sent: AllocationReply, now: number): void {
  const { store } = agent;
  if (!store || seq !== store.underWay) return;
  const reply = boundedReply(agent, sent);
  store.underWay = 0;
  store.answeredAt = now;
  store.unansweredSince = Infinity;
  const valid: QuotaReply[] = [];
  store.asked.forEach((quota, i) => {
    const answer = reply.quotas[i];
    // A quota that was replaced since the request has another window or other dimensions.
    if (!answer || agent.quotas.get(quota.config.name) !== quota) return;
    if (receiveQuotaReply(agent, quota, answer, now)) valid.push(answer);
  });
  if (store.isStore && valid.length > 0) setMembers(agent, valid);
  // An agent with a grant sends a request at every heartbeat, because a store that has lost all data must receive the
  // grant while it learns. An agent that waits for such a store does the same, or an idle one would consider the store
  // unreachable.
  const isActive = store.asked.some(
    (quota) =>
      agent.quotas.get(quota.config.name) === quota &&
      (quota.allocation.grant?.isLearning === true || !isZero(unspentOf(quota))),
  );
  if (isActive) store.nextMs = agent.config.tuning.heartbeatMs;
  store.journalled.forEach((quota, i) => {
    const answer = reply.quotas[store.asked.length + i];
    if (answer && answer.error === undefined && agent.quotas.get(quota.config.name) === quota)
      receiveJournal(quota, answer, now);
  });
  const rollAt = store.asked.length + store.journalled.length;
  const roll = store.config.aggregation === "auto" ? reply.quotas[rollAt] : undefined;
  if (!roll || roll.error) return;
  store.rollStamp = Math.max(store.rollStamp, roll.stamp);
  if (store.isStore) agent.membership.members = Math.max(1, roll.members);
  if (roll.isLearning || roll.isStore === store.isStore) {
    if (!roll.isStore && !roll.isLearning) store.peersInStoreAt = -Infinity;
    return;
  }
  if (roll.isStore) enterStore(agent, now);
  else enterBus(agent, now);
}

/** Records that a request failed. A retry is scheduled. */
export function receiveFailure({ store }: Agent, seq: number): void {
  if (store && seq === store.underWay) store.underWay = 0;
}

/** Sets the number of members to the largest of all quotas, because not every agent uses every quota. */
function setMembers({ membership, config }: Agent, replies: readonly QuotaReply[]): void {
  membership.members = Math.max(1, ...replies.map(({ members }) => members));
  membership.weights = Math.max(config.weight, ...replies.map(({ weights }) => weights));
}

/** Applies the reply on one quota. Returns true when the reply contains valid limits and members. */
function receiveQuotaReply(agent: Agent, quota: Quota, reply: QuotaReply, now: number): boolean {
  if (reply.error !== undefined) {
    ignore(agent, reply.error);
    agent.duplicateSeenAt = now;
  } else if (reply.limits.length !== quota.limits.length) {
    ignore(agent, "other limits");
    return false;
  } else {
    agent.agenda.capacityVersion++;
    quota.limits = reply.limits.map((limit, i) => Math.min(limit, at(quota.config.limits, i)));
  }
  if (reply.level) {
    const { cutAgoMs, pausedAgoMs, tie: _, ...level } = reply.level;
    receiveLevel(agent, quota, { ...level, cutAt: cutAgoMs, pausedAt: pausedAgoMs }, now, true);
  }
  const { allocation, isolation, usage } = quota;
  const before = allocation.grant;
  const isAgreed = before?.isAgreed ?? false;
  const stamp = Math.max(before?.stamp ?? 0, reply.stamp);
  if (reply.isLearning) {
    // Until the store has learned enough, the agent keeps its last agreed share.
    if (isAgreed) enterIsolation(agent, quota, now);
    const { fair = reply.fair, capacity = reply.capacity } = before ?? {};
    allocation.grant = { allowed: [...usage.spentTotal], fair, capacity, stamp, isLearning: true, isAgreed };
    return reply.error === undefined;
  }
  isolation.budget = undefined;
  // The agent may have spent some of the grant since its request.
  const allowed = reply.allowed.map((amount, i) => Math.max(amount, at(usage.spentTotal, i)));
  const { fair, capacity } = reply;
  allocation.grant = { allowed, fair, capacity, stamp, isLearning: false, isAgreed: true };
  if (isQuiet(agent, now)) adoptUsage(quota, reply, now);
  return true;
}

/** Adopts the store's sum of all usage, so that explanations and status show it. */
function adoptUsage({ usage: { swarm } }: Quota, reply: QuotaReply, now: number): void {
  swarm.expire(now);
  const more = minus(reply.used, swarm.sum);
  if (!isZero(more)) swarm.add(now, more);
}

/**
 * Moves from the bus to the store. Until all agents have reported to the store, each keeps its share agreed on the bus.
 */
function enterStore(agent: Agent, now: number): void {
  const { store } = agent;
  if (!store) return;
  for (const quota of agent.quotas.values()) {
    if (modeOf(agent, quota, now).name !== "joining") enterIsolation(agent, quota, now);
    quota.allocation.grant = undefined;
    quota.claims.own = undefined;
  }
  store.isStore = true;
  store.movingUntil = now + movingMs(agent);
  store.askAt = now;
}

/** Moves from the store to the bus: the agent joins as a newcomer, and meanwhile keeps its last agreed share. */
function enterBus(agent: Agent, now: number): void {
  const { store, link } = agent;
  if (!store) return;
  for (const quota of agent.quotas.values()) {
    const { usage, allocation, history } = quota;
    enterIsolation(agent, quota, now);
    // Only the store knew the usage of departed agents. Its times are assumed to be late rather than early.
    usage.swarm.expire(now);
    const bin = usage.swarm.sum.map((amount) => Math.max(0, amount) / BINS);
    const bins = Array.from({ length: BINS }, (_, b) => scaled(bin, b < 2 ? 2 : b < BINS - 2 ? 1 : 0));
    if (allocation.grant && !quota.slots) history.joinSnapshot = { at: now, upMs: 0, bins };
    allocation.grant = undefined;
  }
  forgetPeers(agent, now);
  store.isStore = false;
  store.returnsAt = now + movingMs(agent);
  agent.joinedAt = now;
  agent.startedAt = now;
  link.unansweredSince = Infinity;
  link.unechoedSince = Infinity;
  link.publishedAt = -Infinity;
  countMembers(agent);
  for (const quota of agent.quotas.values()) reportBy(agent, quota, now, repeatsOf(agent, quota));
}

/** Ends a change to the store: from now on the bus carries only urgent messages. */
export function endMove(agent: Agent, now: number): void {
  const { store } = agent;
  if (!store || store.movingUntil === -Infinity || now < store.movingUntil) return;
  store.movingUntil = -Infinity;
  forgetPeers(agent, now);
}

/** Forgets everything that was learned from peers on the bus. */
function forgetPeers({ membership, quotas }: Agent, now: number): void {
  membership.peers.clear();
  membership.newest.clear();
  membership.rememberedReports = 0;
  for (const { config, limits, claims, isolation, reporting, usage, slots } of quotas.values()) {
    claims.others.clear();
    claims.sum.fill(0);
    claims.ahead = undefined;
    claims.head = undefined;
    isolation.heldForSilent.fill(0);
    reporting.unconfirmed.fill(0);
    reporting.unreported.fill(0);
    reporting.inTransit.length = 0;
    reporting.confirmedDemand = zeros(limits.length);
    usage.swarm.clear();
    if (slots) slots.orphans.length = 0;
    const binMs = config.windowMs / BINS;
    usage.own.bins(now).forEach((bin, b) => {
      if (!isZero(bin)) usage.swarm.add(now - b * binMs, bin);
    });
  }
}
