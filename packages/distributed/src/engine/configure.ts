import type { Agent, Peer } from "./agent.ts";
import { type Amounts, addTo, at, isZero } from "./amounts.ts";
import { want } from "./claim.ts";
import { recallCounts, rememberCounts } from "./counted.ts";
import { dimensionsOf, hasSameDimensions, indicesOf, pick } from "./dimensions.ts";
import { hearPool } from "./hear.ts";
import { keep } from "./kept.ts";
import { dropRemoved, effectiveLimits, holdFor, missedAfter } from "./members.ts";
import { type Ends, newPool, type PeerPool, type Pool, type PoolConfig } from "./pool.ts";
import { projected, rewindowed } from "./projection.ts";
import { recall } from "./remembered.ts";
import { repeatsOf, reportBy } from "./schedule.ts";
import { BINS } from "./use-window.ts";

/**
 * Sets or changes a quota. Another limit is the same quota. Another window or other dimensions make another quota, which
 * inherits what can be inherited: the usage of the dimensions that stay, the level, and what peers have said. A quota that
 * is new to this agent receives the reports on it that were remembered.
 */
export function configure(agent: Agent, config: PoolConfig, now: number): void {
  const known = agent.pools.get(config.name);
  let pool = known;
  if (known && known.config.windowMs === config.windowMs && hasSameDimensions(known.config, config)) {
    if (known.kept) known.kept = lowered(known.kept, known.config.limits, config.limits);
    lowerGrant(known, config.limits);
    known.config = config;
  } else {
    if (known) {
      rememberCounts(agent, known);
      pool = successor(agent, known, config, now);
      for (const { pools } of agent.peers.values()) inheritPeer(pools, known, pool);
    } else pool = newPool(config, now);
    recallCounts(agent, pool);
    agent.pools.set(config.name, pool);
    if (!known) receiveRemembered(agent, pool, now);
  }
  if (!pool) return;
  agent.removed.delete(config.name);
  dropRemoved(agent, now);
  effectiveLimits(agent, pool);
  reportBy(agent, pool, now, repeatsOf(agent, pool));
}

/** Of a grant that the store has made for a larger limit, the same part of the smaller one is left. */
function lowerGrant({ allotment, sent, config }: Pool, limits: Amounts): void {
  if (!allotment) return;
  allotment.allowed = allotment.allowed.map((allowed, i) => {
    const left = Math.max(0, allowed - at(sent, i));
    return at(sent, i) + left * Math.min(1, at(limits, i) / at(config.limits, i));
  });
}

/** A quota is no longer used here. Peers still need the reports on its usage, until that has left the window. */
export function remove(agent: Agent, name: string, now: number): void {
  const pool = agent.pools.get(name);
  if (!pool) return;
  want(agent, pool, undefined, undefined, now);
  agent.removed.add(name);
  dropRemoved(agent, now);
}

/** Receives the reports on a new quota that came before it was configured, and holds capacity free for silent peers. */
function receiveRemembered(agent: Agent, pool: Pool, now: number): void {
  for (const [peer, { report, seen, upMs, at: time }] of recall(agent, pool.config.name)) {
    // A peer repeats its claim at every heartbeat, so an old one has ended.
    const isOld = now - time > missedAfter(agent, peer.nextMs);
    hearPool(agent, peer, isOld ? { ...report, claim: undefined } : report, upMs, time);
    if (seen?.report.windowMs !== pool.config.windowMs) continue;
    const bins = projected(pool.config, seen.report, undefined)?.seen;
    if (bins) pool.seen = { at: seen.at, bins };
  }
  const silent: Peer[] = [];
  for (const peer of agent.peers.values()) if (peer.state === "silent") silent.push(peer);
  if (silent.length > 0) holdFor(agent, pool, silent, now);
}

/** A new quota with another window or other dimensions that inherits everything still valid from `old`. */
function successor(agent: Agent, old: Pool, config: PoolConfig, now: number): Pool {
  const pool = newPool(config, old.configuredAt);
  const indices = indicesOf(dimensionsOf(config), dimensionsOf(old.config));
  for (const window of ["used", "own", "unnamed"] as const) pool[window].inherit(old[window], indices, now);
  pool.elsewhere = old.elsewhere.map((one) => ({ ...one, amounts: pick(one.amounts, indices) }));
  pool.pace.inherit(old.pace, indices);
  indices.forEach((index, i) => {
    pool.countedSince[i] = index < 0 ? now : at(old.countedSince, index);
  });
  pool.refundAges = old.refundAges;
  for (const amounts of ["blind", "unsaid", "reserved", "grain"] as const)
    addTo(pool[amounts], pick(old[amounts], indices));
  for (const report of old.reports)
    pool.reports.push({ ...report, blind: pick(report.blind, indices), waiting: pick(report.waiting, indices) });
  pool.heardWaiting = pick(old.heardWaiting, indices);
  pool.level = old.level;
  pool.levelKnownAt = old.levelKnownAt;
  pool.farAhead = old.farAhead;
  Object.assign(pool.turns, old.turns);
  pool.claimCount = old.claimCount;
  pool.contendedUntil = old.contendedUntil;
  pool.spreadUntil = old.spreadUntil;
  pool.reportedAt = old.reportedAt;
  pool.repeats = old.repeats;
  pool.changedAt = now;
  pool.welcomeUntil = old.welcomeUntil;
  pool.newcomersUntil = old.newcomersUntil;
  pool.hearsayUntil = old.hearsayUntil;
  if (old.seen && old.config.windowMs === config.windowMs)
    pool.seen = { at: old.seen.at, bins: old.seen.bins.map((bin) => pick(bin, indices)) };
  pool.sentAt = old.sentAt;
  pool.savedSince = old.savedSince;
  // The store does not know the new quota yet. Until it answers, the agent keeps to its last agreed share.
  if (agent.store?.isStore && old.allotment?.isAgreed && !old.kept) keep(agent, old, now);
  if (old.kept) pool.kept = { ...old.kept, ...rescaled(old.kept, old.limits, config.limits, indices) };
  return pool;
}

/** The same fractions of other limits. A new dimension gets the smallest fraction of the dimensions that stay. */
function rescaled({ from, to }: Ends, before: Amounts, after: Amounts, indices: readonly number[]): Ends {
  const parts = (ends: Amounts) => {
    const known = ends.map((amount, i) => Math.min(1, amount / at(before, i)));
    const least = Math.min(1, ...indices.filter((index) => index >= 0).map((index) => at(known, index)));
    return pick(known, indices, least).map((part, i) => part * at(after, i));
  };
  return { from: parts(from), to: parts(to) };
}

/** Scales an isolation budget down when the limit was lowered. A higher limit does not raise it: peers do not hold it free. */
function lowered<E extends Ends>(ends: E, before: Amounts, after: Amounts): E {
  const lower = (amounts: Amounts) => amounts.map((amount, i) => amount * Math.min(1, at(after, i) / at(before, i)));
  return { ...ends, from: lower(ends.from), to: lower(ends.to) };
}

/**
 * What a peer has said of the quota before, in terms of the new one. Its totals stay, so that what it says next counts
 * from there on; its claim was for the old one.
 */
function inheritPeer(pools: Map<string, PeerPool>, old: Pool, pool: Pool): void {
  const { config } = pool;
  const known = pools.get(config.name);
  if (!known) return;
  known.claim = undefined;
  const indices = indicesOf(dimensionsOf(config), dimensionsOf(old.config));
  const before = { sent: pick(known.said.sent, indices), back: pick(known.said.back, indices) };
  const isSameWindow = known.heard.windowMs === config.windowMs;
  const said = projected(config, isSameWindow ? known.heard : rewindowed(config, known.heard), before);
  if (!said) {
    pools.delete(config.name);
    return;
  }
  known.said = { ...said, claim: undefined };
  known.kept &&= rescaled(known.kept, old.limits, config.limits, indices);
  // The peer's usage of dimensions that are new to this agent is not counted yet.
  const binMs = config.windowMs / BINS;
  said.bins.forEach((bin, b) => {
    const uncounted = bin.map((amount, i) => ((indices[i] as number) < 0 ? amount : 0));
    if (!isZero(uncounted)) pool.used.add(known.reportedAt - b * binMs, uncounted);
  });
}
