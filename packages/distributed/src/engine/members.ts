import type { Agent, Peer } from "./agent.ts";
import { agreement } from "./agreement.ts";
import { type Amounts, addTo, at, zeros } from "./amounts.ts";
import { setClaim } from "./claim.ts";
import { rememberCounts } from "./counted.ts";
import { keptAfter } from "./kept.ts";
import type { PoolReport } from "./message.ts";
import type { PeerPool, Pool } from "./pool.ts";
import { forgetRemembered, rememberPeers } from "./remembered.ts";
import { busyMsOf } from "./schedule.ts";
import { partKeptFree } from "./silence.ts";
import { BINS } from "./use-window.ts";

export function countMembers(agent: Agent): void {
  agent.members = 1;
  agent.weights = agent.config.weight;
  for (const peer of agent.peers.values()) {
    if (peer.state !== "live") continue;
    agent.members++;
    agent.weights += peer.weight;
  }
  for (const pool of agent.pools.values()) effectiveLimits(agent, pool);
}

/** One more is there. Counting all anew for each of a thousand who come at once would take long. */
export function countIn(agent: Agent, peer: Peer): void {
  peer.state = "live";
  agent.members++;
  agent.weights += peer.weight;
  for (const [name, report] of peer.pools) {
    report.kept = undefined;
    const pool = agent.pools.get(name);
    if (pool) lowerLimits(pool, report.said.limits);
  }
}

/** Of different limits the smallest counts: whoever has configured it may know why. */
export function effectiveLimits(agent: Agent, pool: Pool): void {
  pool.limits = [...pool.config.limits];
  for (const peer of agent.peers.values()) {
    const limits = peer.state === "live" ? peer.pools.get(pool.config.name)?.said.limits : undefined;
    if (limits) lowerLimits(pool, limits);
  }
}

export function lowerLimits(pool: Pool, limits: Amounts): void {
  for (let i = 0; i < limits.length; i++) pool.limits[i] = Math.min(at(pool.limits, i), at(limits, i));
}

/** So often one looks around. */
export function sweepMsOf(agent: Agent): number {
  return busyMsOf(agent) / 2;
}

/** Looks who has fallen silent, and what must be kept free for them until the next look. */
export function sweep(agent: Agent, now: number): void {
  const forgetMs = forgetAfter(agent);
  const lost: Peer[] = [];
  agent.sweptAt = now;
  let isChanged = false;
  for (const peer of agent.peers.values()) {
    const silentMs = now - peer.heardAt;
    forgetRemembered(agent, peer, now);
    if (peer.state === "live") {
      if (silentMs > missedAfter(agent, peer.nextMs)) lost.push(peer);
    } else if (silentMs > forgetMs) {
      agent.peers.delete(peer.key);
      agent.rememberedReports -= peer.remembered.size;
      if (agent.newest.get(peer.id) === peer) agent.newest.delete(peer.id);
      isChanged = true;
    }
  }
  // Whoever claims something says so at every heartbeat.
  for (const pool of agent.pools.values())
    for (const report of pool.claimants)
      if (now - report.reportedAt > missedAfter(agent, report.nextMs)) setClaim(pool, report, undefined);
  if (lost.length > 0) miss(agent, lost, now);
  if (isChanged) countMembers(agent);
  for (const pool of agent.pools.values()) reserve(agent, pool, now);
  dropRemoved(agent, now);
}

/** Drops the removed quotas whose usage has left the window of every peer. */
export function dropRemoved(agent: Agent, now: number): void {
  for (const name of agent.removed) {
    const pool = agent.pools.get(name);
    if (pool && now - pool.changedAt < 2 * pool.config.windowMs) continue;
    agent.removed.delete(name);
    if (!pool) continue;
    agent.pools.delete(name);
    // Nobody has heard the totals of an agent that is alone.
    if (agent.config.hasBus || agent.store) rememberCounts(agent, pool);
    rememberPeers(agent, pool, now);
  }
}

/** An agent that is silent for longer than this is missed. Three of the rare messages of an idle agent may get lost. */
export function missedAfter(agent: Agent, nextMs: number): number {
  const { silent, heartbeatMs } = agent.config.tuning;
  return Math.max(silent * heartbeatMs, 3.1 * Math.max(nextMs, busyMsOf(agent)));
}

function miss(agent: Agent, lost: readonly Peer[], now: number): void {
  for (const pool of agent.pools.values()) holdFor(agent, pool, lost, now);
  for (const peer of lost) peer.state = "silent";
  countMembers(agent);
}

/** Holds free what peers that are lost may go on using of a quota, and drops their claims. */
export function holdFor(agent: Agent, pool: Pool, lost: readonly Peer[], now: number): void {
  const agreed = agreement(agent, pool, now);
  for (const peer of lost) {
    const report = peer.pools.get(pool.config.name) ?? unreported(peer, pool, now);
    report.kept = agreed.get(peer.key);
    setClaim(pool, report, undefined);
  }
}

/** A peer that has never reported on a quota may start to use it while it is silent: it has used nothing so far. */
function unreported(peer: Peer, { config, limits }: Pool, now: number): PeerPool {
  const nothing = zeros(limits.length);
  const said: PoolReport = {
    name: config.name,
    windowMs: config.windowMs,
    dimensions: config.dimensions,
    limits: config.limits,
    sent: nothing,
    back: nothing,
    backAgeMs: 0,
    used: nothing,
    bins: [],
    waiting: nothing,
    claim: undefined,
    turn: 0,
    level: undefined,
    seen: undefined,
  };
  const report = { said, heard: said, claim: undefined, reportedAt: now, nextMs: peer.nextMs, kept: undefined };
  peer.pools.set(config.name, report);
  return report;
}

function reserve(agent: Agent, pool: Pool, now: number): void {
  const { name, windowMs } = pool.config;
  const reserved = zeros(pool.limits.length);
  for (const peer of agent.peers.values()) {
    const report = peer.state === "silent" ? peer.pools.get(name) : undefined;
    if (!report?.kept) continue;
    const silentMs = now - peer.heardAt;
    const part = partKeptFree(agent.config.isolation, silentMs, now - peer.endedAt, windowMs);
    const kept = keptAfter(report.kept, silentMs, windowMs);
    // What we know that it used is in our own window already, and less of it at the next look.
    const known = stillInWindow(report, now + sweepMsOf(agent));
    for (let i = 0; i < reserved.length; i++)
      reserved[i] = at(reserved, i) + Math.max(0, at(kept, i) * part - at(known, i));
  }
  pool.reserved = reserved;
}

/** Of what it has said that it used, what is still in the window then. What was used in a bin leaves with its first. */
function stillInWindow({ said: { used, bins, windowMs }, reportedAt }: PeerPool, then: number): number[] {
  const sum = zeros(used.length);
  const whole = Math.floor(((windowMs - (then - reportedAt)) / windowMs) * BINS);
  for (let b = 0; b < Math.min(whole, bins.length); b++) addTo(sum, bins[b] as Amounts);
  return sum;
}

/** The words of the dead may still arrive, and what was kept free for them has to run out. */
function forgetAfter(agent: Agent): number {
  let longest = 0;
  for (const { config } of agent.pools.values()) longest = Math.max(longest, config.windowMs);
  return 2 * longest + 60_000;
}
