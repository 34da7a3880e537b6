import { hash32 } from "../hash.ts";
import { type Agent, ignore, modeOf, type Peer } from "./agent.ts";
import { fits, isEqual, isZero } from "./amounts.ts";
import { setClaim } from "./claim.ts";
import { count, name } from "./heard-use.ts";
import { EPOCHS_AHEAD, type Level, merge, withLongerPause } from "./level.ts";
import { countIn, countMembers, effectiveLimits, lowerLimits } from "./members.ts";
import type { ClaimReport, Message, PoolReport } from "./message.ts";
import type { Pool } from "./pool.ts";
import { projected } from "./projection.ts";
import { withAges } from "./publish.ts";
import { remember } from "./remembered.ts";
import { repeatsOf, reportBy } from "./schedule.ts";
import { seeGrain } from "./steady-pace.ts";
import { isQuiet } from "./store-side.ts";
import { boundedLevel, boundedReport, continues, contradictionOf } from "./trust.ts";
import { isBefore } from "./turn.ts";

/** An epoch far ahead is accepted after being repeated for this many heartbeats. */
const CREDIBLE_AFTER = 2;

/** Bounds per-peer state against forged agent ids. */
const MOST_PEERS = 20_000;

/**
 * Takes over what another agent has said, or notes that this agent's own words have come back. True when that is news, so
 * that something may have to be done: most messages repeat what is known.
 */
export function hear(agent: Agent, message: Message, now: number): boolean {
  const { id, life, tuning } = agent.config;
  const wasCutOff = modeOf(agent, now) === "cut-off";
  const isOwn = message.id === id && message.life === life;
  const wrong = contradictionOf(message);
  if (wrong) {
    ignore(agent, wrong);
    return false;
  }
  let isNews = isOwn && message.seq > agent.echoedSeq;
  agent.heardAt = now;
  agent.unansweredSince = Infinity;
  if (isOwn) {
    agent.echoedSeq = Math.max(agent.echoedSeq, message.seq);
    agent.unechoedSince = Infinity;
  }
  if (wasCutOff && modeOf(agent, now) !== "cut-off") {
    rejoin(agent, now);
    isNews = true;
  }
  if (isOwn) return isNews;
  if (message.store && agent.store) agent.store.elsewhereAt = now;
  if (isQuiet(agent, now)) {
    hearInStoreMode(agent, message, now);
    return true;
  }
  const peer = peerOf(agent, message, now);
  if (!peer) return isNews;
  if (peer.id === id && now - peer.firstHeardAt > 3 * tuning.heartbeatMs) agent.twinAt = now;
  peer.seq = message.seq;
  peer.heardAt = now;
  peer.nextMs = message.nextMs;
  if (peer.state === "live") agent.weights += message.weight - peer.weight;
  peer.weight = message.weight;
  if (peer.state !== "live") {
    countIn(agent, peer);
    isNews = true;
  }
  if (message.members >= agent.toldMembers || now >= agent.toldUntil) {
    agent.toldMembers = message.members;
    agent.toldUntil = now + tuning.silent * tuning.heartbeatMs;
  }
  const newcomerMs = 2 * tuning.heartbeatMs;
  const isNew = message.upMs < newcomerMs;
  for (const report of message.pools) isNews = hearPool(agent, peer, report, message.upMs, now) || isNews;
  if (message.bye) {
    peer.saidBye = true;
    depart(agent, peer);
  } else if (isNew) welcome(agent, peer, agent.pools.values(), now);
  return isNews || isNew || message.bye;
}

/** Levels are for all. Whoever broadcasts as if there were no store is told, by a few of those who hear it. */
function hearInStoreMode(agent: Agent, message: Message, now: number): void {
  for (const { name, level } of message.pools) {
    const pool = agent.pools.get(name);
    if (pool && level) hearLevel(agent, pool, boundedLevel(agent, pool, level), now);
  }
  const { store, members, config } = agent;
  const [first] = agent.pools.values();
  if (!store || !first || message.store || now - store.spokeAt < 5 * config.tuning.heartbeatMs) return;
  if (part(`${config.id} ${message.id} ${message.seq}`) * members >= 4) return;
  store.spokeAt = now;
  reportBy(agent, first, now, 0, true);
}

/** Back on the bus: what went on meanwhile must be heard first, as by a newcomer. */
function rejoin(agent: Agent, now: number): void {
  agent.joinedAt = now;
  for (const pool of agent.pools.values()) {
    pool.kept = undefined;
    reportBy(agent, pool, now, repeatsOf(agent, pool));
  }
}

/** Each life of an agent is a peer of its own: whatever was used in it stays used. */
function peerOf(agent: Agent, message: Message, now: number): Peer | undefined {
  const { id, life, seq } = message;
  const before = agent.newest.get(id);
  const known = knownPeer(agent, message);
  if (known) {
    if (seq > known.seq && !known.saidBye) return known;
    ignore(agent, known.saidBye ? "left" : "stale");
    return undefined;
  }
  if (agent.peers.size >= MOST_PEERS) {
    ignore(agent, "too many agents");
    return undefined;
  }
  // A new life shows that the one before it has ended; if it has not, it will be heard again.
  if (before && before.life < life) {
    const wasDeaf = modeOf(agent, now) === "cut-off" || agent.joinedAt > before.heardAt;
    if (wasDeaf && before.state === "silent") before.endedAt = now;
    else depart(agent, before);
  }
  const key = `${id} ${life}`;
  const peer: Peer = {
    key,
    id,
    life,
    seq: 0,
    firstHeardAt: now,
    heardAt: now,
    nextMs: 0,
    weight: 1,
    state: "silent",
    saidBye: false,
    endedAt: -Infinity,
    pools: new Map(),
    remembered: new Map(),
  };
  agent.peers.set(key, peer);
  if (!before || before.life < life) agent.newest.set(id, peer);
  return peer;
}

/** The peer that sent a message, if it was heard before. Most messages come from the newest incarnation of an agent. */
function knownPeer(agent: Agent, { id, life }: Message): Peer | undefined {
  const newest = agent.newest.get(id);
  return newest?.life === life ? newest : agent.peers.get(`${id} ${life}`);
}

function depart(agent: Agent, peer: Peer): void {
  if (peer.state === "left") return;
  peer.state = "left";
  for (const [name, report] of peer.pools) {
    report.kept = undefined;
    const pool = agent.pools.get(name);
    if (pool) setClaim(pool, report, undefined);
  }
  countMembers(agent);
}

/**
 * A newcomer has to learn what was before it came, soon, but not from all at the same moment. Where nothing was it has to
 * learn that it is not alone: a few tell it.
 */
function welcome(agent: Agent, peer: Peer, pools: Iterable<Pool>, now: number): void {
  const { id, tuning } = agent.config;
  const when = part(`${id} ${peer.key}`);
  const isOfFew = when * agent.members < 8 && now - agent.startedAt > 2 * tuning.heartbeatMs;
  for (const pool of pools) {
    const hasNews = !isZero(pool.used.sum) || pool.level.epoch > 0;
    if (now < pool.welcomeUntil || !(hasNews || isOfFew)) continue;
    pool.welcomeUntil = now + 2.5 * tuning.heartbeatMs;
    reportBy(agent, pool, now + when * tuning.heartbeatMs * 0.5, 1);
  }
}

/** Receives a report. `now` lies back for a report that was remembered. Returns true when the report is news. */
export function hearPool(agent: Agent, peer: Peer, said: PoolReport, upMs: number, now: number): boolean {
  const pool = agent.pools.get(said.name);
  if (!pool) {
    if (!remember(agent, peer, said, upMs, now)) ignore(agent, "too many quotas");
    return false;
  }
  const heard = boundedReport(agent, pool, said);
  let known = peer.pools.get(heard.name);
  const before = known && continues(heard, known.heard) ? known.said : undefined;
  const report = heard.windowMs === pool.config.windowMs ? projected(pool.config, heard, before) : undefined;
  if (!report) {
    ignore(agent, "other limits");
    return false;
  }
  if (!known && upMs >= now - agent.joinedAt) name(agent.joinedAt, pool, report, now);
  const isGap = !known || now - known.reportedAt > 2 * Math.max(agent.config.tuning.heartbeatMs, peer.nextMs);
  let isNews = count(agent, pool, before, report, isGap || !before, now);
  const claim = peer.state === "live" ? possible(agent, pool, report.claim) : undefined;
  const hadLimits = known?.said.limits;
  if (known) {
    known.said = report;
    known.heard = heard;
    known.reportedAt = now;
    known.nextMs = peer.nextMs;
    known.kept = undefined;
  } else {
    known = { said: report, heard, claim: undefined, reportedAt: now, nextMs: peer.nextMs, kept: undefined };
    peer.pools.set(report.name, known);
  }
  if (setClaim(pool, known, claim)) {
    isNews = true;
    // Whoever comes before does not leave room for this agent's claim: it must know what of that is used already.
    const isOvertaken = claim && pool.claim && isBefore(claim, pool.claim) && pool.sentAt > pool.reportedAt;
    if (isOvertaken) reportBy(agent, pool, now, repeatsOf(agent, pool));
  }
  if (!hadLimits) lowerLimits(pool, report.limits);
  else if (!isEqual(report.limits, hadLimits)) {
    effectiveLimits(agent, pool);
    isNews = true;
  }
  if (claim) seeGrain(pool, claim.next);
  const { contendedMs, heartbeatMs } = agent.config.tuning;
  if (claim && claim.waitedMs > contendedMs) {
    isNews ||= pool.contendedUntil <= now;
    pool.contendedUntil = now + 2 * heartbeatMs;
  }
  if (upMs < report.windowMs) pool.newcomersUntil = Math.max(pool.newcomersUntil, now + report.windowMs - upMs);
  pool.turns.line = Math.max(pool.turns.line, report.turn);
  const { level } = pool;
  if (report.level) hearLevel(agent, pool, report.level, now);
  if (report.seen && modeOf(agent, now) === "listening") pool.seen = { at: now, bins: report.seen };
  return isNews || level !== pool.level;
}

/** Nobody can be served more than the limit at once: whoever claims it would only hold up all others. */
function possible(agent: Agent, { limits }: Pool, claim: ClaimReport | undefined): ClaimReport | undefined {
  if (!claim || fits(claim.amounts, limits)) return claim;
  ignore(agent, "impossible claim");
  return undefined;
}

/** A level with ages in the place of times, from whomever. */
export function hearLevel(agent: Agent, pool: Pool, heard: Level, now: number): void {
  if (heard.epoch < 1) return;
  if (!isCredible(agent, pool, heard.epoch, now)) {
    ignore(agent, "epoch far ahead");
    return;
  }
  const before = pool.level;
  const said = withAges(heard, now);
  const later = merge(before, said);
  const level = withLongerPause(later, later === said ? before : said);
  if (level === before) return;
  const isNews = level.epoch !== before.epoch || level.round !== before.round || level.pauseMs !== before.pauseMs;
  pool.level = level;
  if (!isNews) return;
  pool.levelKnownAt = now;
  pool.changedAt = now;
  // A few pass it on, in case it was lost on the way to others. If all did, or did at once, they would drown it.
  const { epoch, round } = level;
  if (part(`${agent.config.id} ${epoch} ${round}`) * agent.members < 4)
    reportBy(agent, pool, now + agent.config.tuning.gapMs / 2, 0, true);
}

/**
 * True when an epoch may be accepted. A single message must not move an agent thousands of epochs ahead, because a forged
 * one would separate it from all peers. A joining agent, and one to which the quota is new, cannot know how many cuts it
 * missed and accepts any epoch; other agents accept a distant epoch once it has been repeated, so that agents with an honest gap always converge.
 */
function isCredible(agent: Agent, pool: Pool, epoch: number, now: number): boolean {
  const isFar = (from: number) => epoch > from + EPOCHS_AHEAD;
  if (!isFar(pool.level.epoch) || now <= pool.configuredAt || modeOf(agent, now) === "listening") {
    pool.farAhead = undefined;
    return true;
  }
  const { farAhead } = pool;
  if (!farAhead || epoch < farAhead.epoch || isFar(farAhead.epoch)) {
    pool.farAhead = { epoch, since: now };
    return false;
  }
  return now - farAhead.since >= CREDIBLE_AFTER * agent.config.tuning.heartbeatMs;
}

/** A number from 0 to 1 that follows from a text: agents do not all do the same at the same time, and none tosses a coin. */
function part(text: string): number {
  return hash32(text) / 2 ** 32;
}
