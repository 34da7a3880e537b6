import type { Agent } from "./agent.ts";
import { type Amounts, at, isZero, takeFrom } from "./amounts.ts";
import { type DatedUsage, datedLike } from "./dated-usage.ts";
import { dimensionsOf, indicesOf } from "./dimensions.ts";
import type { Quota } from "./quota.ts";
import { noteChange } from "./schedule.ts";

/** Heartbeats after which every agent has reported the usage that it had at the time of an observation. */
const REPORTED_AFTER = 2.5;

/** Usage that a provider's answer has shown and that no agent has reported yet. */
export interface ExternalUsage extends DatedUsage {
  /** From this time on the usage is attributed to a client outside the swarm. `amounts` is the part that no agent has reported. */
  readonly until: number;
}

/**
 * Counts usage that the provider has counted and no agent has reported: of a client outside the swarm, or of an agent
 * whose report is still in transit. The capacity is used up in either case. Peers detect the same usage in answers of
 * their own.
 *
 * An answer does not show the age of usage, so it counts from now on: it leaves the window late and never early. But where
 * `within` counts the same calls among others, as an endpoint does those of a model whose limit was learned just now, the
 * usage has the ages of the usage there. Otherwise the first answer would stop the model for a whole window.
 */
export function countExternalUsage(agent: Agent, quota: Quota, amounts: Amounts, now: number, within?: Quota): void {
  const { config, membership } = agent;
  const { heartbeatMs, crowd } = config.tuning;
  const { usage } = quota;
  noteChange(agent, quota, now);
  const until = now + REPORTED_AFTER * heartbeatMs * Math.max(1, membership.members / crowd);
  usage.external = usage.external.filter((observed) => observed.until > now);
  const earlier =
    within?.config.windowMs === quota.config.windowMs
      ? datedLike(
          within.usage.swarm,
          indicesOf(dimensionsOf(quota.config), dimensionsOf(within.config)),
          amounts,
          now,
          usage.swarm,
        )
      : [{ at: now, amounts: [...amounts] }];
  for (const dated of earlier) {
    usage.swarm.add(dated.at, dated.amounts);
    usage.unattributed.add(dated.at, dated.amounts);
    usage.external.push({ ...dated, until });
  }
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
