import type { Agent } from "./agent.ts";
import { type Amounts, at, isZero, takeFrom } from "./amounts.ts";
import type { Quota } from "./quota.ts";
import { noteChange } from "./schedule.ts";

/** Heartbeats after which every agent has reported the usage that it had at the time of an observation. */
const REPORTED_AFTER = 2.5;

/** Usage that a provider's answer has shown and that no agent has reported yet. */
export interface ExternalUsage {
  readonly at: number;
  /** From this time on the usage is attributed to a client outside the swarm. */
  readonly until: number;
  /** The part that no agent has reported. */
  readonly amounts: number[];
}

/**
 * Counts usage that the provider has counted and no agent has reported: of a client outside the swarm, or of an agent
 * whose report is still in transit. The capacity is used up in either case. Peers detect the same usage in answers of
 * their own.
 */
export function countExternalUsage(agent: Agent, quota: Quota, amounts: Amounts, now: number): void {
  const { config, membership } = agent;
  const { heartbeatMs, crowd } = config.tuning;
  const { usage } = quota;
  usage.swarm.add(now, amounts);
  usage.unattributed.add(now, amounts);
  noteChange(agent, quota, now);
  const until = now + REPORTED_AFTER * heartbeatMs * Math.max(1, membership.members / crowd);
  usage.external = usage.external.filter((observed) => observed.until > now);
  usage.external.push({ at: now, until, amounts: [...amounts] });
}

/**
 * Attributes observed usage to an agent that reports it, or to an own call that used more than estimated, so that it is not
 * counted twice.
 */
export function attributeExternalUsage({ usage }: Quota, reported: Amounts, now: number): void {
  if (usage.external.length === 0) return;
  usage.external = usage.external.filter(({ until }) => until > now);
  const left = [...reported];
  for (const { at: time, amounts } of usage.external) {
    const same = amounts.map((amount, i) => Math.max(0, Math.min(amount, at(left, i))));
    if (isZero(same)) continue;
    takeFrom(left, same);
    takeFrom(amounts, same);
    const attributed = same.map((amount) => -amount);
    usage.swarm.add(time, attributed);
    usage.unattributed.add(time, attributed);
  }
}
