import { type Agent, joiningUntil } from "../agent.ts";
import type { Quota } from "../quota.ts";
import { storeMode } from "../store-mode.ts";
import { allocated } from "./allocated.ts";
import { alone } from "./alone.ts";
import { isolated } from "./isolated.ts";
import { joining } from "./joining.ts";
import { member } from "./member.ts";
import type { Mode, ModeName } from "./mode.ts";

const MODES: Readonly<Record<ModeName, Mode>> = { joining, alone, member, isolated, allocated };

/** The mode of a quota. In store mode each quota has its own. */
export function modeOf(agent: Agent, quota: Quota, now: number): Mode {
  const ofStore = storeMode(agent, quota, now);
  return ofStore === undefined ? busMode(agent, now) : MODES[ofStore];
}

/** The mode of the agent, apart from any quota. */
export function agentMode(agent: Agent, now: number): ModeName {
  return storeMode(agent, undefined, now) ?? busMode(agent, now).name;
}

function busMode(agent: Agent, now: number): Mode {
  const { hasBus, echoes, tuning } = agent.config;
  if (!hasBus) return alone;
  if (isIsolated(agent, now)) return isolated;
  // Messages received early in the join phase do not show that the bus still works at its end.
  const hasReceived = agent.link.receivedAt >= joiningUntil(agent) - tuning.heartbeatMs || !echoes;
  if (!hasReceived || now < joiningUntil(agent)) return joining;
  return agent.membership.peers.size === 0 ? alone : member;
}

/**
 * True when no message of a peer and, on a bus with echo, none of the agent itself was received for several heartbeats.
 */
function isIsolated({ config: { echoes, tuning }, membership, link }: Agent, now: number): boolean {
  if (!echoes && membership.peers.size === 0) return false;
  const { heartbeatMs, isolatedAfterHeartbeats, unechoedHeartbeats } = tuning;
  if (now - link.unansweredSince > isolatedAfterHeartbeats * heartbeatMs) return true;
  return echoes && now - link.unechoedSince > unechoedHeartbeats * heartbeatMs;
}
