import type { Agent } from "./agent.ts";
import { type Amounts, addTo, at, isZero, takeFrom } from "./amounts.ts";
import { capacityOf } from "./capacity.ts";
import { type Dimensions, dimensionsOf, indicesOf, pick } from "./dimensions.ts";
import { attributeExternalUsage } from "./external-usage.ts";
import { isContended, returnToPace } from "./pacing.ts";
import type { Quota } from "./quota.ts";
import { reportLargeUsage } from "./report-usage.ts";
import { noteChange, refundedMsOf, reportBy } from "./schedule.ts";
import { occupy, release } from "./slots.ts";

/**
 * Reconciles a call's estimate with its true cost: extra usage counts now, refunds count when the call was sent. Calls sent
 * a window ago or earlier have left the window, so nothing is refunded for them.
 */
export function settle(
  agent: Agent,
  quota: Quota,
  correction: Amounts,
  dimensions: Dimensions | undefined,
  sentAt: number,
  now: number,
): void {
  if (quota.slots) {
    const slots = at(correction, 0);
    if (slots < 0) release(agent, quota, -slots, sentAt, now);
    else if (slots > 0) occupy(agent, quota, slots, now);
    return;
  }
  const { usage, reporting, config } = quota;
  const isInOrder = dimensions === undefined || dimensions === config.dimensions;
  const more = isInOrder ? correction : pick(correction, indicesOf(dimensionsOf(config), dimensions));
  const hasExpired = now - sentAt >= config.windowMs;
  const extra = more.slice();
  const refund = more.slice();
  for (let i = 0; i < more.length; i++) {
    const amount = at(more, i);
    const isRefundable = !hasExpired && sentAt >= at(usage.countedSince, i);
    extra[i] = Math.max(0, amount);
    refund[i] = isRefundable ? Math.max(0, Math.min(-amount, at(usage.spentTotal, i) - at(usage.refundedTotal, i))) : 0;
  }
  const hasExtra = !isZero(extra);
  const hasRefund = !isZero(refund);
  if (!hasExtra && !hasRefund) return;
  noteChange(agent, quota, now);
  if (hasExtra) {
    usage.swarm.add(now, extra);
    usage.own.add(now, extra);
    // An earlier answer may already have shown the extra usage.
    attributeExternalUsage(quota, extra, now);
    addTo(usage.spentTotal, extra);
    addTo(reporting.unreported, extra);
    addTo(reporting.unconfirmed, extra);
  }
  if (hasRefund) {
    usage.swarm.refund(sentAt, refund);
    usage.own.refund(sentAt, refund);
    addTo(usage.refundedTotal, refund);
  }
  if (hasExtra) reportLargeUsage(agent, quota, capacityOf(agent, quota, now), now);
  // Calls without a refund count too: the reported age grows, and peers place refunds earlier, which is the safe side.
  if (!hasExpired) usage.refundAges.add(now, sentAt, refundedMsOf(agent));
  if (hasRefund) {
    addTo(usage.recentRefund, refund);
    usage.unreportedRefunds.add(sentAt, refund);
    // Callers of other agents wait for the returned capacity.
    if (isContended(agent, quota, now)) reportBy(agent, quota, now, 0);
  }
  takeFrom(extra, refund);
  returnToPace(agent, quota, extra, now);
}
