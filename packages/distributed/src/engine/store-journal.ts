import type { Journal, QuotaReply } from "@hivepace/core";
import type { Agent } from "./agent.ts";
import type { Quota } from "./quota.ts";

/** Largest number of journals in one request; agents with more used quotas report them in turns. */
const MOST = 32;

/**
 * The quotas whose usage the store should count now, although the bus decides. When all agents of a swarm end at once, nobody
 * on the bus knows their usage; the store tells it those that start in their place before they send.
 */
export function dueJournals(agent: Agent, now: number): Quota[] {
  const due: Quota[] = [];
  for (const quota of agent.quotas.values()) {
    const { journal } = quota.allocation;
    if (quota.slots || agent.removed.has(quota.config.name)) continue;
    if (journal.isTold && journal.confirmed === totalOf(quota)) continue;
    due.push(quota);
  }
  if (due.length > MOST) due.sort((a, b) => a.allocation.journal.askedAt - b.allocation.journal.askedAt);
  const first = due.slice(0, MOST);
  for (const quota of first) {
    quota.allocation.journal.underWay = totalOf(quota);
    quota.allocation.journal.askedAt = now;
  }
  return first;
}

export function journalOf({ allocation: { journal } }: Quota): Journal {
  return { isAsking: !journal.isTold };
}

/** Receives the store's journal of a quota. The usage is applied as a snapshot of peers is. */
export function receiveJournal(quota: Quota, { bins }: QuotaReply, now: number): void {
  const { journal } = quota.allocation;
  journal.confirmed = journal.underWay;
  if (!bins || journal.isTold) return;
  journal.isTold = true;
  quota.history.journalSnapshot = { at: now, bins };
}

/** Grows with every change of the usage. */
function totalOf({ usage }: Quota): number {
  let total = 0;
  for (const amount of usage.spentTotal) total += amount;
  for (const amount of usage.refundedTotal) total += amount;
  return total;
}
