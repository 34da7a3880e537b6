import { zeros } from "../amounts.ts";
import { isGranted, spendGrant, unspentOf } from "../grant.ts";
import type { Mode, Permit } from "./mode.ts";

/** In store mode an agent sends the calls that the store has granted. */
export const allocated: Mode = {
  name: "allocated",
  enter() {},

  permit(_agent, quota, cost) {
    return isGranted(quota, cost) ? GRANTED : undefined;
  },

  pursue() {},

  retryAt(_agent, quota, next, now) {
    return isGranted(quota, next) ? now : Infinity;
  },

  availableAt(agent, quota, cost, _ahead, freeAt, now) {
    return Math.max(freeAt, isGranted(quota, cost) ? now : now + agent.config.tuning.heartbeatMs);
  },

  available(_agent, quota) {
    return unspentOf(quota);
  },

  share(_agent, { allocation, limits }) {
    return allocation.grant?.fair ?? zeros(limits.length);
  },
};

/** A call that the store has granted. */
const GRANTED: Permit = {
  spend(_agent, quota, cost) {
    spendGrant(quota, cost);
  },
};
