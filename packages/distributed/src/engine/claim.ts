import { hash32 } from "../hash.ts";
import { type Agent, listenedAt, modeIn, partOf } from "./agent.ts";
import { wantAllotted } from "./allotment.ts";
import { type Amounts, addTo, at, fits, isEqual, minus, scaled, sizeOf, takeFrom, zeros } from "./amounts.ts";
import type { ClaimReport } from "./message.ts";
import type { OwnClaim, PeerPool, Pool } from "./pool.ts";
import { capacityOf, roomOf } from "./room.ts";
import { repeatsOf, reportBy, settleMsOf } from "./schedule.ts";
import { leadOf } from "./steady-pace.ts";
import { isBefore, nextTurn } from "./turn.ts";

/** Says what waits here: the next call, and all of it. Opens, enlarges or withdraws the claim for it. */
export function want(agent: Agent, pool: Pool, next: Amounts | undefined, all: Amounts | undefined, now: number): void {
  pool.next = next;
  pool.all = all ?? next ?? zeros(pool.limits.length);
  if (!next) {
    pool.waitingSince = Infinity;
    if (pool.claim) withdraw(agent, pool, now);
    return;
  }
  if (pool.waitingSince === Infinity) pool.waitingSince = now;
  const mode = modeIn(agent, pool, now);
  if (agent.store?.isStore) {
    wantAllotted(agent, pool, next, now);
    return;
  }
  if (mode === "alone" || mode === "cut-off") return;
  // Whoever listens does not know the line yet. Its claim is known to all when it may send.
  if (mode === "listening" && now < listenedAt(agent) - settleMsOf(agent, pool)) return;
  // While the level is too low for it, a large call must not hold up those behind it.
  if (!fits(next, minus(capacityOf(agent, pool, now), pool.reserved))) {
    if (pool.claim) withdraw(agent, pool, now);
    return;
  }
  if (pool.claim && fits(next, pool.claim.amounts)) return;
  open(agent, pool, next, now);
}

function withdraw(agent: Agent, pool: Pool, now: number): void {
  pool.claim = undefined;
  pool.changedAt = now;
  reportBy(agent, pool, now, repeatsOf(agent, pool));
}

function open(agent: Agent, pool: Pool, next: Amounts, now: number): void {
  const { id, tuning } = agent.config;
  const amounts = claimed(agent, pool, next, now);
  const count = ++pool.claimCount;
  const turn =
    now < pool.hearsayUntil ? Math.max(pool.turns.own, headOf(agent, pool)) : nextTurn(pool.turns, lateOf(agent, pool));
  pool.before = undefined;
  pool.spreadUntil = now;
  pool.claim = {
    amounts,
    perMs: scaled(amounts, 1 / Math.min(tuning.spreadMs, pool.config.windowMs / 60)),
    turn,
    tie: hash32(`${id} ${count}`),
    publishedAt: Infinity,
    seq: Infinity,
  };
  pool.changedAt = now;
  reportBy(agent, pool, now, repeatsOf(agent, pool));
}

/** How far the line comes while a claim is made known and served. Where all weigh the same, all lose that alike. */
export function lateOf({ config, members, weights }: Agent, pool: Pool): number {
  if (weights === members * config.weight) return 0;
  return config.tuning.lateMs / pool.config.windowMs / weights;
}

/** Where the line begins: a newcomer starts beside the first who waits, not behind the last. */
function headOf({ config, weights }: Agent, { claimants, turns }: Pool): number {
  let head = turns.line;
  // Those who are cut off, or have heard of no line yet, have no place in it.
  for (const { claim } of claimants) if (claim && claim.turn > 0) head = Math.min(head, claim.turn);
  return Math.max(head, turns.line - config.tuning.debt / weights);
}

/**
 * The next call, and of what waits behind it a quantum of this agent's part, or of what is free; more when nobody else
 * wants anything. Where all of that is less, also some for calls that come while the claim is made known: they would wait
 * as long again.
 */
function claimed(agent: Agent, pool: Pool, next: Amounts, now: number): number[] {
  const { quantum, spare } = agent.config.tuning;
  const settleMs = settleMsOf(agent, pool);
  const part = partOf(agent, now);
  const size = sizeOf(pool.all, pool.limits);
  // An agent that is still joining has not heard the claims of those that join with it.
  const isOnly = pool.claimants.size === 0 && now >= listenedAt(agent);
  // A claim takes a while: in a short window it must be larger for the limit to be used.
  let most = Math.min(1, Math.max(quantum, (1.5 * settleMs) / pool.config.windowMs)) * part;
  const lead = leadOf(agent, pool, now);
  if (lead) {
    // At a steady pace several must be under way at once, or there would be a gap after each.
    const ahead = sizeOf(lead, pool.limits) * agent.members * part;
    // Few who have much to do claim more at a time than one of many: together what all may be ahead, and a little more.
    const ofFew = (1.25 * ahead) / (pool.claimants.size + 1);
    if (ahead < Infinity) most = Math.min(Math.max(most, ofFew), isOnly ? ahead : ahead / 2);
  }
  const room = roomOf(agent, pool, now);
  const free = sizeOfRoom(minus(room, pool.claimed), pool.limits);
  most = Math.max(most, sizeOfRoom(room, pool.limits) * part, free * (isOnly ? 0.5 : quantum));
  const factor = size > most ? most / size : 1;
  const amounts = next.map((amount, i) => Math.max(amount, at(pool.all, i) * factor));
  const more = scaled(next, spare);
  if (size + sizeOf(more, pool.limits) <= free * quantum) addTo(amounts, more);
  return amounts;
}

function sizeOfRoom(room: Amounts, limits: Amounts): number {
  return Math.max(0, Math.min(...room.map((amount, i) => amount / at(limits, i))));
}

/** So long after it was published, everyone has heard it. */
export function isHeard(agent: Agent, pool: Pool, claim: OwnClaim, now: number): boolean {
  const { echoes } = agent.config;
  return claim.publishedAt + settleMsOf(agent, pool) <= now && (!echoes || claim.seq <= agent.echoedSeq);
}

/** What those claim who are to be served before this agent. */
export function claimsBefore(pool: Pool): Amounts {
  if (!pool.before) {
    const { claim: mine } = pool;
    pool.before = zeros(pool.limits.length);
    for (const { claim } of pool.claimants)
      if (claim && mine && isBefore(claim, mine)) addTo(pool.before, claim.amounts);
  }
  return pool.before;
}

/** The claim of another that is to be served first of all. */
export function firstClaim(pool: Pool): ClaimReport | undefined {
  if (!pool.first) for (const peer of pool.claimants) if (isFirst(peer.claim, pool)) pool.first = peer;
  return pool.first?.claim;
}

function isFirst(claim: ClaimReport | undefined, { first }: Pool): boolean {
  return claim !== undefined && (!first?.claim || isBefore(claim, first.claim));
}

/**
 * Takes over what another agent claims now. True when that is another claim than before. Sums and the first are kept up
 * to date: looking at all would be slow.
 */
export function setClaim(pool: Pool, peer: PeerPool, claim: ClaimReport | undefined): boolean {
  const { claim: known } = peer;
  peer.claim = claim;
  if (known === claim) return false;
  const isSamePlace = known?.tie === claim?.tie && known?.turn === claim?.turn;
  // Most messages repeat the claim that is known.
  if (known && claim && isSamePlace && isEqual(known.amounts, claim.amounts)) return !isEqual(known.next, claim.next);
  const { claim: mine, before } = pool;
  if (known) {
    takeFrom(pool.claimed, known.amounts);
    if (before && mine && isBefore(known, mine)) takeFrom(before, known.amounts);
    if (pool.first === peer && !isSamePlace) pool.first = undefined;
  }
  if (claim) {
    pool.claimants.add(peer);
    addTo(pool.claimed, claim.amounts);
    if (before && mine && isBefore(claim, mine)) addTo(before, claim.amounts);
    if (pool.first && isFirst(claim, pool)) pool.first = peer;
  } else if (pool.claimants.delete(peer) && pool.claimants.size === 0) pool.claimed.fill(0);
  return true;
}
