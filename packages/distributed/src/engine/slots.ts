/**
 * Slots: a quota of simultaneous calls. Usage of a slot ends when its call ends instead of when a window passes;
 * everything else works as for rates. An agent takes its part of the free slots without announcement, and claims the
 * rest in order of virtual time.
 *
 * Reports state how many slots the sender holds, and when the last of its calls will have ended. Slots of a departed
 * agent stay held until then.
 */

import {
  type AdaptiveConfig,
  type AdaptiveLimit,
  growLimit,
  newAdaptiveLimit,
  noteAnswered,
} from "./adaptive-limit.ts";
import type { Agent, Peer } from "./agent.ts";
import { type Amounts, at, fits } from "./amounts.ts";
import { availableOf } from "./capacity.ts";
import { toleratedLag } from "./claim.ts";
import type { QuotaReport } from "./message.ts";
import type { Permit } from "./modes/mode.ts";
import type { PeerQuota, Quota } from "./quota.ts";
import { noteChange, repeatsOf, reportAt, settleMsOf } from "./schedule.ts";
import { isQuiet } from "./store-mode.ts";
import { isBefore, nextVirtualTime } from "./virtual-time.ts";

/** The window of every quota of slots: the time within which the budgets of silent agents become fair shares. */
export const SLOT_WINDOW_MS = 30_000;
/** Upper bound of the time for which a report keeps the slots of a departed agent held. */
const LONGEST_HELD_MS = 86_400_000;
/** Weight of the latest call in the typical duration. */
const LATEST = 0.1;
/** The expected duration of a call before any has ended. */
const UNKNOWN_MS = 1_000;
/** A tie-break that orders this agent behind every claim of the same virtual time. */
const LAST_TIE = 2 ** 32;

/** State of a quota of slots, in addition to the state of every quota. */
export interface Slots {
  /** Start times of the own calls under way, in ascending order. */
  readonly starts: number[];
  /** Time at which an own call last started or was renewed. */
  renewedAt: number;
  /**
   * Slots that were freed since the latest report. Peers count them as used, so this agent may use them again without
   * announcement, unless a claim comes before its next call.
   */
  freed: number;
  /** Typical duration of own calls; undefined until the first has ended. */
  callMs: number | undefined;
  /** The adaptive limit, and when this agent learned of its latest cut. */
  adaptive: AdaptiveLimit | undefined;
  cutAt: number;
  /** Recent fraction of own calls that the provider refused; 1 before the first call, so that a first refusal counts in full. */
  refusedPart: number;
  /** The limit at which calls were refused, while it may still be too high; else Infinity. */
  congestedAt: number;
  /** Slots of departed agents, until their last known calls have ended. */
  orphans: Orphan[];
}

interface Orphan {
  /** Key of the peer; undefined for slots of which this agent learned when it joined. */
  readonly key: string | undefined;
  readonly count: number;
  readonly until: number;
}

export function newSlots(config: AdaptiveConfig | undefined, now: number): Slots {
  const adaptive = config && newAdaptiveLimit(config, now);
  return {
    starts: [],
    renewedAt: -Infinity,
    freed: 0,
    callMs: undefined,
    adaptive,
    cutAt: -Infinity,
    refusedPart: 1,
    congestedAt: Infinity,
    orphans: [],
  };
}

/** Records the start of an own call, after its usage was counted. */
export function noteStart({ slots }: Quota, count: number, now: number): void {
  if (!slots) return;
  for (let i = 0; i < count; i++) slots.starts.push(now);
  slots.renewedAt = now;
}

/** Frees slots of own calls that started at `startedAt`, and announces them when another agent waits for slots. */
export function release(agent: Agent, quota: Quota, count: number, startedAt: number, now: number): void {
  const { slots, usage } = quota;
  const freed = Math.min(count, at(usage.own.sum, 0));
  if (!slots || freed <= 0) return;
  for (let i = 0; i < freed; i++) slots.starts.splice(Math.max(0, slots.starts.indexOf(startedAt)), 1);
  growLimit(agent, quota, now);
  noteAnswered(slots, freed);
  const callMs = Math.max(0, now - startedAt);
  slots.callMs = slots.callMs === undefined ? callMs : slots.callMs + LATEST * (callMs - slots.callMs);
  usage.own.add(now, [-freed]);
  usage.swarm.add(now, [-freed]);
  usage.refundedTotal[0] = at(usage.refundedTotal, 0) + freed;
  slots.freed += freed;
  noteChange(agent, quota, now);
  returnSoon(agent, now);
  announceFreed(agent, quota, now);
}

/** Advances the next request, which returns a freed slot in store mode. */
function returnSoon({ store, config }: Agent, now: number): void {
  if (store?.isStore) store.askAt = Math.min(store.askAt, Math.max(now, store.askedAt + config.tuning.heartbeatMs / 5));
}

/** Counts slots that are used without a decision, because the caller only observes. */
export function occupy(agent: Agent, quota: Quota, count: number, now: number): void {
  const { usage, reporting } = quota;
  usage.own.add(now, [count]);
  usage.swarm.add(now, [count]);
  usage.spentTotal[0] = at(usage.spentTotal, 0) + count;
  reporting.unreported[0] = at(reporting.unreported, 0) + count;
  reporting.unconfirmed[0] = at(reporting.unconfirmed, 0) + count;
  noteChange(agent, quota, now);
  noteStart(quota, count, now);
}

/** Reports freed slots at once when another agent waits for them, and no own call comes first. */
export function announceFreed(agent: Agent, quota: Quota, now: number): void {
  const { slots, claims, demand, reporting } = quota;
  if (!slots || slots.freed <= 0 || claims.others.size === 0) return;
  if (isQuiet(agent, now) || (demand.next && isTurn(agent, quota, now))) return;
  // Waiting for the minimum gap between messages would delay the next call.
  reportAt(agent, quota, Math.min(reporting.dueAt, now));
  reporting.repeats = Math.max(reporting.repeats, repeatsOf(agent, quota));
}

/**
 * True when no other agent's claim comes before the next own call. A claim that is not known to all agents yet cannot be
 * used, so that a slot kept for it would stay empty.
 */
function isTurn(agent: Agent, quota: Quota, now: number): boolean {
  const { claims } = quota;
  if (claims.others.size === 0) return true;
  const virtualTime = nextVirtualTime(claims.virtualTime, toleratedLag(agent, quota));
  const place = { virtualTime, tie: claims.own?.tie ?? LAST_TIE };
  const usableSince = now - settleMsOf(agent, quota);
  for (const { claim, claimedAt } of claims.others)
    if (claim && isBefore(claim, place) && claimedAt <= usableSince) return false;
  return true;
}

/** Returns the permit to use a freed slot again that peers still count as used. */
export function reusePermit(agent: Agent, quota: Quota, cost: Amounts, now: number): Permit | undefined {
  const { slots } = quota;
  if (!slots || slots.freed < at(cost, 0) || !isTurn(agent, quota, now)) return undefined;
  return fits(cost, availableOf(agent, quota, now)) ? REUSED : undefined;
}

const REUSED: Permit = {
  spend(_agent, { slots }, cost) {
    if (slots) slots.freed -= at(cost, 0);
  },
};

/**
 * Number of slots to claim: one call, and more where several slots will be free before the next claim is known to all.
 */
export function slotsToClaim(quota: Quota, part: number, available: number, settleMs: number): number {
  const { slots, demand, limits, claims } = quota;
  const turnover = Math.min(1, (1.5 * settleMs) / Math.max(1, slots?.callMs ?? Infinity));
  const free = Math.max(0, available - at(claims.sum, 0));
  const most = Math.max(turnover * at(limits, 0) * part, available * part, claims.others.size === 0 ? free / 2 : 0);
  return Math.max(1, Math.floor(Math.min(at(demand.all, 0), most)));
}

/** An estimate of when a slot will be free behind calls that take `ahead`: slots become free at a steady rate. */
export function slotFreeAt(
  agent: Agent,
  quota: Quota,
  cost: Amounts,
  ahead: Amounts | undefined,
  from: number,
  now: number,
): number {
  const missing = at(cost, 0) + (ahead ? at(ahead, 0) : 0) - at(availableOf(agent, quota, now), 0);
  if (missing <= 0) return from;
  return Math.max(from, now + (Math.ceil(missing) * typicalCallMs(quota)) / at(quota.limits, 0));
}

function typicalCallMs({ slots }: Quota): number {
  return Math.max(1, slots?.callMs ?? UNKNOWN_MS);
}

/** The fields of a report that concern slots, besides their number. */
export function slotFields(agent: Agent, quota: Quota, isWelcoming: boolean, now: number): Partial<QuotaReport> {
  const { slots, config } = quota;
  if (!slots) return {};
  const [first] = slots.starts;
  return {
    ...(first === undefined
      ? {}
      : { heldMs: now - first, endsMs: Math.max(0, slots.renewedAt + (config.leaseMs as number) - now) }),
    ...(slots.adaptive ? { adaptive: { ...slots.adaptive, changedAt: now - slots.adaptive.changedAt } } : {}),
    ...(isWelcoming ? departedFields(agent, quota, now) : {}),
  };
}

/** The field of a store request that concerns slots: the time within which the own calls end. */
export function slotRequest({ slots, config }: Quota, now: number): { endsMs?: number } {
  const { leaseMs } = config;
  if (!slots || leaseMs === undefined) return {};
  return { endsMs: slots.starts.length === 0 ? leaseMs : Math.max(0, slots.renewedAt + leaseMs - now) };
}

/** Slots of departed agents, which send newcomers no report. */
function departedFields(agent: Agent, quota: Quota, now: number): Partial<QuotaReport> {
  let count = 0;
  let until = now;
  const add = (of: number, end: number): void => {
    if (of === 0) return;
    count += of;
    until = Math.max(until, end);
  };
  for (const orphan of quota.slots?.orphans ?? []) add(orphan.count, orphan.until);
  for (const { state, quotas } of agent.membership.peers.values()) {
    const known = state === "live" ? undefined : quotas.get(quota.config.name);
    if (known) add(known.slots, known.slotsUntil);
  }
  return { departed: count, departedMs: until - now };
}

/** Counts the slots that a peer reports to hold. Returns true when their number has changed. */
export function countPeerSlots(quota: Quota, peer: Peer, known: PeerQuota, report: QuotaReport, now: number): boolean {
  const { slots, usage, config } = quota;
  if (!slots) return false;
  // A peer that was considered departed may report again.
  if (slots.orphans.some(({ key }) => key === peer.key)) dropOrphans(quota, (one) => one.key === peer.key);
  // No peer holds more than the limit; more is a forged or outdated number.
  const held = Math.min(at(report.used, 0), Math.max(at(config.limits, 0), known.slots));
  const more = held - known.slots;
  known.slots = held;
  known.slotsUntil = now + Math.min(report.endsMs ?? (config.leaseMs as number), LONGEST_HELD_MS);
  if (more !== 0) usage.swarm.add(now, [more]);
  return more !== 0;
}

/** Keeps the slots of a departed peer held until its last known calls have ended. */
export function orphanSlots({ slots, usage }: Quota, peer: Peer, known: PeerQuota, now: number): void {
  if (!slots || known.slots === 0) return;
  if (known.slotsUntil > now) slots.orphans.push({ key: peer.key, count: known.slots, until: known.slotsUntil });
  else usage.swarm.add(now, [-known.slots]);
  known.slots = 0;
}

/** Counts slots of agents that departed before this agent joined, as peers report them during the join phase. */
export function countDeparted({ slots, usage }: Quota, count: number, until: number, now: number): void {
  if (!slots || until <= now) return;
  const known = slots.orphans.reduce((sum, orphan) => sum + orphan.count, 0);
  if (count <= known) return;
  slots.orphans.push({ key: undefined, count: count - known, until });
  usage.swarm.add(now, [count - known]);
}

/** Frees the slots of departed or silent agents whose last known calls have ended. */
export function freeEnded(agent: Agent, quota: Quota, now: number): void {
  const { slots, usage, config } = quota;
  if (!slots) return;
  if (slots.orphans.length > 0) dropOrphans(quota, ({ until }) => until <= now);
  for (const { state, quotas } of agent.membership.peers.values()) {
    const known = state === "live" ? undefined : quotas.get(config.name);
    if (!known || known.slots === 0 || known.slotsUntil > now) continue;
    usage.swarm.add(now, [-known.slots]);
    known.slots = 0;
  }
}

function dropOrphans({ slots, usage }: Quota, isOver: (orphan: Orphan) => boolean): void {
  if (!slots) return;
  const over = slots.orphans.filter(isOver);
  slots.orphans = slots.orphans.filter((orphan) => !isOver(orphan));
  for (const { count } of over) usage.swarm.add(0, [-count]);
}

/** Own slots that peers may not know of; never more than this agent holds. */
export function unconfirmedIn({ reporting, usage, slots }: Quota, index: number): number {
  const unconfirmed = at(reporting.unconfirmed, index);
  return slots ? Math.max(0, Math.min(unconfirmed, at(usage.own.sum, index))) : unconfirmed;
}

/**
 * Whole slots that sum up to at most `most`. The remainder goes to the members with the largest fractions and then to those
 * first in `order`, which is the same for all agents.
 */
export function wholeShares(shares: readonly number[], order: readonly number[], most: number): number[] {
  const whole = shares.map((share) => Math.floor(share + 1e-6));
  let rest = Math.floor(most + 1e-6) - whole.reduce((sum, share) => sum + share, 0);
  const fraction = (i: number) => Math.round(1e6 * ((shares[i] as number) - (whole[i] as number)));
  const ranked = shares.map((_, i) => i);
  ranked.sort((a, b) => fraction(b) - fraction(a) || (order[a] as number) - (order[b] as number));
  for (const i of ranked) {
    if (rest <= 0 || fraction(i) === 0) break;
    whole[i] = (whole[i] as number) + 1;
    rest--;
  }
  return whole;
}
