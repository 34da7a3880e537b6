import type { Agent } from "./agent.ts";
import { type Amounts, zeros } from "./amounts.ts";
import { pausedUntil } from "./level.ts";
import { modeOf } from "./modes/mode-of.ts";
import type { Quota } from "./quota.ts";
import type { SubWindow } from "./sub-windows.ts";

/** The amounts that this agent may take now without waiting; zero during a pause. */
export function available(agent: Agent, quota: Quota, now: number): Amounts {
  if (now < pausedUntil(quota.backoff.level)) return zeros(quota.limits.length);
  return modeOf(agent, quota, now).available(agent, quota, now);
}

/** This agent's share of the capacity, per window. */
export function share(agent: Agent, quota: Quota, now: number): Amounts {
  return modeOf(agent, quota, now).share(agent, quota, now);
}

/** Usage of this agent in the window that ends now. */
export function ownUsage({ usage }: Quota, now: number): Amounts {
  usage.own.expire(now);
  return usage.own.sum;
}

/** Usage of all agents in the window that ends now. */
export function swarmUsage({ usage }: Quota, now: number): Amounts {
  usage.swarm.expire(now);
  return usage.swarm.sum;
}

/** The sub-windows that limit calls now, up to date. */
export function subWindows({ subWindows: { all, until } }: Quota, now: number): readonly SubWindow[] {
  const present = all.filter(({ isLearned }) => !isLearned || now < until);
  for (const { swarm, own } of present) {
    swarm.expire(now);
    own.expire(now);
  }
  return present;
}
