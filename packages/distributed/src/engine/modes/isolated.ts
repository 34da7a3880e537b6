import type { Agent } from "../agent.ts";
import { type Amounts, at, fits, isZero, minus } from "../amounts.ts";
import { enterIsolation, isolationLimit, isolationRetryAt, roundedLimit, savedUpAt } from "../isolation-budget.ts";
import type { Quota } from "../quota.ts";
import { ownSubWindowsFreeAt } from "../sub-windows.ts";
import { FREE, type Mode, type Permit } from "./mode.ts";

/** An agent that receives no messages keeps its own usage within its part of the last agreement. */
export const isolated: Mode = {
  name: "isolated",
  enter: enterIsolation,

  /** A call that exceeds the whole budget would never be sent; the agent saves up for it and sends it alone. */
  permit(agent, quota, cost, _capacity, now) {
    const { own } = quota.usage;
    const limit = roundedLimit(agent, quota, cost, now);
    if (subWindowsAllowAt(quota, limit, cost, now) > now) return undefined;
    if (fits(cost, minus(limit, own.sum))) return FREE;
    // A call that exceeds the whole limit can never be sent.
    if (!fits(cost, quota.limits)) return undefined;
    return now >= savedUpAt(agent, quota, cost, limit, now) && isZero(own.sum) ? SAVED_UP : undefined;
  },

  pursue() {},

  retryAt: isolatedUntil,

  availableAt(agent, quota, cost, _ahead, freeAt, now) {
    return Math.max(freeAt, isolatedUntil(agent, quota, cost, now));
  },

  available(agent, quota, now) {
    return minus(isolationLimit(agent, quota, now), quota.usage.own.sum);
  },

  share: isolationLimit,
};

function isolatedUntil(agent: Agent, quota: Quota, cost: Amounts, now: number): number {
  const limit = roundedLimit(agent, quota, cost, now);
  return Math.max(isolationRetryAt(agent, quota, cost, now), subWindowsAllowAt(quota, limit, cost, now));
}

/** Time at which this agent's part of the sub-windows can hold a call. */
function subWindowsAllowAt(quota: Quota, limit: Amounts, cost: Amounts, now: number): number {
  if (quota.subWindows.all.length === 0) return now;
  const part = limit.map((amount, i) => Math.min(1, amount / at(quota.limits, i)));
  return ownSubWindowsFreeAt(quota, part, cost, now);
}

/** A call larger than the budget, for which the agent has saved up. */
const SAVED_UP: Permit = {
  spend(_agent, { isolation }, _cost, now) {
    isolation.savedSince = now;
  },
};
