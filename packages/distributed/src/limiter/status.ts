import { agentMode, at, type Level, levelAt, type ModeName, pausedUntil, subWindowsOf } from "../engine/index.ts";
import { agentOf } from "../wire/capacity.ts";
import type {
  DistributedStatus,
  LevelCause,
  PeerStatus,
  ResourceStatus,
  SwarmMode,
  SwarmStatus,
} from "./distributed-limiter.ts";
import type { Member } from "./member.ts";
import { slotStatus } from "./slot-status.ts";
import type { SwarmResource } from "./swarm-resource.ts";
import { totalOf } from "./total.ts";

export function statusOf(member: Member, resources: Iterable<SwarmResource>, now: number): DistributedStatus {
  return {
    ...memberStatus(member, now),
    bus: member.link?.state ?? "closed",
    resources: [...resources].map((resource) => resourceStatus(member, resource, now)),
  };
}

/** The status of an agent and its knowledge of the swarm. */
export function memberStatus(member: Member, now: number): SwarmStatus {
  const { agent, link, echoAt, isClosed } = member;
  const { membership, config } = agent;
  const { heartbeatMs } = config.tuning;
  const ignored: Record<string, number> = {};
  for (const [reason, count] of [...(link?.ignored ?? []), ...agent.ignored])
    ignored[reason] = (ignored[reason] ?? 0) + count;
  const peers: PeerStatus[] = [];
  for (const { id, state, receivedAt } of membership.peers.values())
    peers.push({ agentId: id, state, lastMessageAgoMs: now - receivedAt });
  return {
    agentId: config.id,
    mode: isClosed ? "closed" : swarmMode(agentMode(agent, now)),
    bus: link?.state ?? "none",
    ...storeStatus(member, now),
    members: membership.members,
    peers,
    viewAgeMs: agent.link.receivedAt === -Infinity ? undefined : now - agent.link.receivedAt,
    lastEchoAgeMs: echoAt === -Infinity ? undefined : now - echoAt,
    // The other process may have stopped since.
    isDuplicate: now - agent.duplicateSeenAt < 10 * heartbeatMs,
    published: link?.published ?? 0,
    publishedBytes: link?.publishedBytes ?? 0,
    unpublished: link?.unpublished ?? 0,
    lastFailure: link?.lastFailure === undefined ? undefined : String(link.lastFailure),
    ignored,
  };
}

function storeStatus(
  { agent: { store }, storeFailures, lastStoreFailure }: Member,
  now: number,
): Pick<SwarmStatus, "aggregation" | "storeAgeMs" | "storeFailures" | "lastStoreFailure"> {
  return {
    aggregation: store?.isStore ? "store" : "bus",
    storeAgeMs: store && store.answeredAt > -Infinity ? now - store.answeredAt : undefined,
    storeFailures,
    lastStoreFailure: lastStoreFailure === undefined ? undefined : String(lastStoreFailure),
  };
}

/** The published mode: an agent that the store serves is a member. */
function swarmMode(mode: ModeName): SwarmMode {
  return mode === "allocated" ? "member" : mode;
}

function resourceStatus(member: Member, resource: SwarmResource, now: number): ResourceStatus {
  const { quota, name, room, inFlight, slots } = resource;
  return {
    resource: name,
    configured: at(quota.config.limits, 0),
    total: totalOf(quota, now),
    share: resource.share(now),
    ...levelStatus(quota.backoff.level, now),
    waiting: room?.size ?? 0,
    inFlight,
    slots: slots && slotStatus(member.agent, slots, now),
    windows: subWindowsOf(quota, now).map(({ windowMs, limits, isLearned, swarm }) => ({
      limit: at(limits, 0),
      windowMs,
      isLearned,
      used: Math.max(0, at(swarm.sum, 0)),
    })),
  };
}

export function levelStatus(level: Level, now: number): Pick<ResourceStatus, "level" | "cause" | "pausedForMs"> {
  const { epoch, origin, reason, cutAt } = level;
  const cause: LevelCause | undefined =
    epoch === 0 ? undefined : { agentId: agentOf(origin), reason, agoMs: now - cutAt };
  return { level: levelAt(level, now), cause, pausedForMs: Math.max(0, pausedUntil(level) - now) };
}
