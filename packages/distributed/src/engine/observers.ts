import type { Agent, Peer } from "./agent.ts";
import { type Amounts, addTo, at, isZero, minus, zeros } from "./amounts.ts";
import { capacityOf } from "./capacity.ts";
import type { PeerQuota, Quota } from "./quota.ts";
import { BINS } from "./usage-window.ts";

/** Youngest bins of a report from which the rate of an observing peer is measured: a quarter of the window. */
const RATE_BINS = 3;

/**
 * The capacity to leave free for peers that observe. They send every call at once, so a window that the others fill
 * would make them exceed the limit until usage leaves it. At their recent rate they need the largest lead of their usage
 * over the usage that leaves the window. Under even usage that is nearly nothing, in a window that fills for the first time all
 * of the rest of their window.
 */
export function observersUsage(agent: Agent, quota: Quota, now: number): number[] {
  const perMs = zeros(quota.limits.length);
  if (quota.slots) return perMs;
  for (const peer of agent.membership.peers.values()) {
    const known = peer.observes && peer.state === "live" ? peer.quotas.get(quota.config.name) : undefined;
    if (known) addTo(perMs, rateOf(peer, known));
  }
  if (isZero(perMs)) return perMs;
  const { swarm, typicalCost } = quota.usage;
  swarm.expire(now);
  const free = minus(capacityOf(agent, quota, now), swarm.sum);
  return swarm.largestLead(perMs, typicalCost, now).map((amount, i) => Math.min(amount, Math.max(0, at(free, i))));
}

/** Recent usage of a peer per millisecond. */
function rateOf(peer: Peer, { report, reportedAt }: PeerQuota): Amounts {
  const binMs = report.windowMs / BINS;
  const upMs = reportedAt - peer.firstReceivedAt + peer.firstUpMs;
  const spanMs = Math.max(binMs, Math.min(RATE_BINS * binMs, upMs));
  const sum = zeros(report.used.length);
  for (const bin of report.bins.slice(0, RATE_BINS)) addTo(sum, bin);
  return sum.map((amount) => Math.max(0, amount) / spanMs);
}
