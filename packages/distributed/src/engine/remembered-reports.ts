import type { Agent, Peer } from "./agent.ts";
import type { QuotaReport } from "./message.ts";
import type { Quota } from "./quota.ts";
import { TRUST } from "./trust-rules.ts";

/**
 * The latest report of a peer on a quota that this agent does not have. An agent that starts to use the quota applies
 * the remembered reports at their times of arrival, and so knows the usage of its peers at once.
 */
export interface RememberedReport {
  readonly report: QuotaReport;
  readonly at: number;
  /** Age of the sender when it reported. */
  readonly upMs: number;
  /** The latest report with a join snapshot, and when it came. */
  readonly snapshot: { readonly report: QuotaReport; readonly at: number } | undefined;
}

/**
 * Remembers a report on a quota that this agent does not have. Where there are too many, the oldest of the peer that has most of
 * them go, so that a peer that names quotas without end replaces its own.
 */
export function rememberReport(
  { membership }: Agent,
  peer: Peer,
  report: QuotaReport,
  upMs: number,
  now: number,
): void {
  const known = peer.remembered.get(report.name);
  if (!known) {
    if (membership.rememberedReports >= TRUST.mostReports) forgetOldest(membership);
    membership.rememberedReports++;
  }
  const snapshot = report.joinSnapshot ? { report, at: now } : known?.snapshot;
  peer.remembered.delete(report.name);
  peer.remembered.set(report.name, { report, at: now, upMs, snapshot });
}

/** Half of the reports of one peer at once, because finding the peer visits all peers. */
function forgetOldest(membership: Agent["membership"]): void {
  const { remembered } = [...membership.peers.values()].reduce((most, peer) =>
    peer.remembered.size > most.remembered.size ? peer : most,
  );
  for (const name of [...remembered.keys()].slice(0, Math.ceil(remembered.size / 2))) {
    remembered.delete(name);
    membership.rememberedReports--;
  }
}

/** Removes and returns the remembered reports of all peers on a quota, oldest first. */
export function takeRemembered({ membership }: Agent, name: string): (readonly [Peer, RememberedReport])[] {
  const reports: (readonly [Peer, RememberedReport])[] = [];
  for (const peer of membership.peers.values()) {
    const last = peer.remembered.get(name);
    if (!last) continue;
    peer.remembered.delete(name);
    membership.rememberedReports--;
    reports.push([peer, last]);
  }
  return reports.sort(([, a], [, b]) => a.at - b.at);
}

/** Remembers the reports of peers on a quota that ends, in case the quota is configured again. */
export function rememberPeers(agent: Agent, { config: { name } }: Quota, now: number): void {
  for (const peer of agent.membership.peers.values()) {
    const known = peer.quotas.get(name);
    if (!known) continue;
    peer.quotas.delete(name);
    rememberReport(agent, peer, known.receivedReport, now - peer.firstReceivedAt, known.reportedAt);
  }
}

/** Forgets remembered reports of a peer whose usage has left the window. */
export function forgetExpired({ membership }: Agent, peer: Peer, now: number): void {
  for (const [name, { report, at }] of peer.remembered) {
    if (now - at < 2 * report.windowMs) continue;
    peer.remembered.delete(name);
    membership.rememberedReports--;
  }
}
