import { joiningUntil } from "../agent.ts";
import { zeros } from "../amounts.ts";
import { claimFor } from "../claim.ts";
import { freeAtFor } from "../free-at.ts";
import { settleMsOf } from "../schedule.ts";
import type { Mode } from "./mode.ts";

/** A new agent sends nothing until it has received the reports of its peers, or until the store has learned enough. */
export const joining: Mode = {
  name: "joining",
  enter() {},

  permit() {
    return undefined;
  },

  /** Claims shortly before the end of the join phase, so that all peers know the claim when the agent may send. */
  pursue(agent, quota, next, now) {
    if (now >= joiningUntil(agent) - settleMsOf(agent, quota)) claimFor(agent, quota, next, now);
  },

  retryAt(agent, quota, _next, now) {
    if (agent.store?.isStore) return Infinity;
    const claimAt = joiningUntil(agent) - settleMsOf(agent, quota);
    return !quota.claims.own && claimAt > now ? claimAt : Math.max(joiningUntil(agent), now + 1);
  },

  availableAt(agent, quota, cost, ahead, freeAt, now) {
    const { heartbeatMs } = agent.config.tuning;
    // The next reply of the store, about a heartbeat away, ends the join phase.
    if (agent.store?.isStore) return Math.max(freeAt, now + heartbeatMs);
    // An agent that has received nothing by the end of the join phase keeps joining until its next message is echoed.
    const joinedAt = joiningUntil(agent) > now ? joiningUntil(agent) : now + heartbeatMs;
    return Math.max(freeAt, joinedAt, freeAtFor(agent, quota, cost, ahead, freeAt, now));
  },

  available(_agent, { limits }) {
    return zeros(limits.length);
  },

  share(_agent, { limits }) {
    return zeros(limits.length);
  },
};
