import { type Amounts, at, zeros } from "../amounts.ts";
import { isGranted, spendGrant, unspentOf } from "../grant.ts";
import type { Quota } from "../quota.ts";
import { ownSubWindowsFreeAt } from "../sub-windows.ts";
import type { Mode, Permit } from "./mode.ts";

/** In store mode an agent sends the calls that the store has granted. */
export const allocated: Mode = {
  name: "allocated",
  enter() {},

  permit(_agent, quota, cost, _capacity, now) {
    return isGranted(quota, cost) && spreadAt(quota, cost, now) <= now ? GRANTED : undefined;
  },

  pursue() {},

  retryAt(_agent, quota, next, now) {
    return isGranted(quota, next) ? spreadAt(quota, next, now) : Infinity;
  },

  availableAt(agent, quota, cost, _ahead, freeAt, now) {
    return Math.max(
      freeAt,
      isGranted(quota, cost) ? spreadAt(quota, cost, now) : now + agent.config.tuning.heartbeatMs,
    );
  },

  available(_agent, quota) {
    return unspentOf(quota);
  },

  share(_agent, { allocation, limits }) {
    return allocation.grant?.fair ?? zeros(limits.length);
  },
};

/** Time at which this agent's fair share of the sub-windows, which the store does not know, can hold a call. */
function spreadAt(quota: Quota, cost: Amounts, now: number): number {
  if (quota.subWindows.all.length === 0) return now;
  const { grant } = quota.allocation;
  const part = quota.limits.map((limit, i) => (grant ? Math.min(1, at(grant.fair, i) / limit) : 1));
  return ownSubWindowsFreeAt(quota, part, cost, now);
}

/** A call that the store has granted. */
const GRANTED: Permit = {
  spend(_agent, quota, cost) {
    spendGrant(quota, cost);
  },
};
