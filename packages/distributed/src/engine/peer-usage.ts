import type { Agent } from "./agent.ts";
import { type Amounts, addTo, at, isEqual, isZero, minus, takeFrom, zeros } from "./amounts.ts";
import { attributeExternalUsage } from "./external-usage.ts";
import type { QuotaReport } from "./message.ts";
import { agentMode } from "./modes/mode-of.ts";
import { paceOf, returnToPace } from "./pacing.ts";
import type { PeerQuota, Quota } from "./quota.ts";
import { TRUST } from "./trust-rules.ts";
import { BINS, UsageWindow } from "./usage-window.ts";

/** Attributes usage that this agent learned at join time to the peer that reports it. */
export function attributeJoinUsage(joinedAt: number, quota: Quota, { used, bins }: QuotaReport, now: number): void {
  const { windowMs } = quota.config;
  const before = [...used];
  bins.forEach((bin, b) => {
    if ((b * windowMs) / BINS < now - joinedAt) takeFrom(before, bin);
  });
  quota.usage.unattributed.trim(before);
  if (!isZero(used)) quota.history.approximateUntil = now + windowMs;
}

/** The usage of a peer that bounds its refunds; undefined where signatures prove them. */
export function countedUsage(agent: Agent, quota: Quota, known: PeerQuota | undefined): UsageWindow | undefined {
  if (agent.config.isSigned || quota.slots) return undefined;
  const { windowMs } = quota.config;
  const { length } = quota.limits;
  const { counted } = known ?? {};
  const isSame = counted?.windowMs === windowMs && counted.sum.length === length;
  return isSame ? counted : new UsageWindow(length, windowMs);
}

/**
 * Counts a peer's usage since its previous report as used now, which is late and never early. Refunds count from the
 * time of the call, which is early and never late. After a gap, the bins of the report supply the times. Returns false
 * when the report contains no new usage.
 */
export function countPeerUsage(
  agent: Agent,
  quota: Quota,
  counted: UsageWindow | undefined,
  known: QuotaReport | undefined,
  report: QuotaReport,
  isGap: boolean,
  now: number,
): boolean {
  if (known && isEqual(report.spentTotal, known.spentTotal) && isEqual(report.refundedTotal, known.refundedTotal))
    return false;
  const { usage, pacing } = quota;
  const spent = plausible(quota, known ? minus(report.spentTotal, known.spentTotal) : report.spentTotal);
  const refunded = plausible(quota, known ? minus(report.refundedTotal, known.refundedTotal) : report.refundedTotal);
  if (counted) {
    counted.retainMs = usage.swarm.retainMs;
    counted.expire(now);
  }
  attributeExternalUsage(quota, known ? spent : report.used, now);
  if (isGap) {
    const left = minus(spent, refunded);
    const binMs = quota.config.windowMs / BINS;
    for (let b = 0; b < BINS && left.some((amount) => amount > 0); b++) {
      const part = left.map((amount, i) => Math.max(0, Math.min(amount, at(report.bins[b] ?? left, i))));
      if (isZero(part)) continue;
      usage.swarm.add(now - b * binMs, part);
      counted?.add(now - b * binMs, part);
      for (let i = 0; i < left.length; i++) left[i] = at(left, i) - at(part, i);
    }
    return true;
  }
  if (!isZero(spent)) {
    usage.swarm.add(now, spent);
    counted?.add(now, spent);
    // Usage that a resumed process receives at once was not used at once, so it must not put the swarm ahead of the
    // pace.
    if (agentMode(agent, now) !== "joining") pacing.lead.add(now, spent, paceOf(agent, quota, now));
  }
  if (!isZero(refunded)) {
    const returned = countRefunds(agent, quota, counted, report, refunded, now);
    returnToPace(agent, quota, returned, now);
  }
  return true;
}

/**
 * Counts refunds of a peer when their calls were sent; those of reports that were missed, at the greatest age they may have.
 * Without signatures a peer can take back no more than it has used since that time. Returns the amounts, which are negative.
 */
function countRefunds(
  agent: Agent,
  { usage }: Quota,
  counted: UsageWindow | undefined,
  report: QuotaReport,
  refunded: Amounts,
  now: number,
): number[] {
  // This message may have taken longer than the one that reported the usage.
  const latest = now - agent.config.tuning.settleMs;
  const left = [...refunded];
  const returned = zeros(left.length);
  const refund = (ageMs: number, amounts: Amounts): void => {
    const time = latest - ageMs;
    const rest = [...amounts];
    // A message that was later than others may follow usage that was counted before this time.
    for (const sentAt of counted ? [time, time - usage.swarm.windowMs / BINS] : [time]) {
      const most = counted?.leastSince(sentAt);
      const part = rest.map((amount, i) => -Math.min(amount, most ? Math.max(0, at(most, i)) : amount));
      if (isZero(part)) continue;
      usage.swarm.add(sentAt, part);
      counted?.add(sentAt, part);
      addTo(returned, part);
      addTo(rest, part);
    }
  };
  for (const { ageMs, amounts } of report.refunds ?? []) {
    const part = amounts.map((amount, i) => Math.max(0, Math.min(amount, at(left, i))));
    takeFrom(left, part);
    refund(ageMs, part);
  }
  if (!isZero(left)) refund(report.refundAgeMs, left);
  return returned;
}

/** Amounts without those that only a forged report contains. In a sum with them, small amounts would be rounded away. */
function plausible({ limits }: Quota, amounts: Amounts): Amounts {
  const isPlausible = amounts.every((amount, i) => amount <= TRUST.mostLimits * at(limits, i));
  return isPlausible ? amounts : amounts.map((amount, i) => Math.min(amount, TRUST.mostLimits * at(limits, i)));
}
