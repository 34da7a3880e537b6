import type { Agent, Peer } from "./agent.ts";
import type { PoolReport } from "./message.ts";
import type { Pool } from "./pool.ts";

/** Bounds the memory for reports on quotas that this agent does not have. */
const MOST_REMEMBERED = 20_000;

/**
 * The last report of a peer on a quota that this agent does not have. An agent that starts to use a quota later receives
 * the reports that it remembers, at the time at which they came, and so knows the usage of its peers at once.
 */
export interface Remembered {
  readonly report: PoolReport;
  readonly at: number;
  /** Age of the sender when it reported. */
  readonly upMs: number;
  /** The last report that said what all agents had used, as the sender knew it, and when that came. */
  readonly seen: { readonly report: PoolReport; readonly at: number } | undefined;
}

/** Remembers a report on a quota that this agent does not have. False when there are too many already. */
export function remember(agent: Agent, peer: Peer, report: PoolReport, upMs: number, now: number): boolean {
  const known = peer.remembered.get(report.name);
  if (!known && agent.rememberedReports >= MOST_REMEMBERED) return false;
  if (!known) agent.rememberedReports++;
  const seen = report.seen ? { report, at: now } : known?.seen;
  peer.remembered.set(report.name, { report, at: now, upMs, seen });
  return true;
}

/** Takes the remembered reports on a quota, of all peers, the oldest first. */
export function recall(agent: Agent, name: string): (readonly [Peer, Remembered])[] {
  const reports: (readonly [Peer, Remembered])[] = [];
  for (const peer of agent.peers.values()) {
    const last = peer.remembered.get(name);
    if (!last) continue;
    peer.remembered.delete(name);
    agent.rememberedReports--;
    reports.push([peer, last]);
  }
  return reports.sort(([, a], [, b]) => a.at - b.at);
}

/** A quota that this agent stops to count: its peers' reports are remembered, in case it is needed again. */
export function rememberPeers(agent: Agent, { config: { name } }: Pool, now: number): void {
  for (const peer of agent.peers.values()) {
    const known = peer.pools.get(name);
    if (!known) continue;
    peer.pools.delete(name);
    remember(agent, peer, known.heard, now - peer.firstHeardAt, known.reportedAt);
  }
}

/** Forgets a peer's reports whose usage has left the window. */
export function forgetRemembered(agent: Agent, peer: Peer, now: number): void {
  for (const [name, { report, at }] of peer.remembered) {
    if (now - at < 2 * report.windowMs) continue;
    peer.remembered.delete(name);
    agent.rememberedReports--;
  }
}
