import { modeOf } from "../engine/agent.ts";
import { at } from "../engine/amounts.ts";
import { levelAt, pausedUntil } from "../engine/level.ts";
import { agentOf } from "../wire/capacity.ts";
import type { DistributedStatus, LevelCause, PeerStatus, ResourceStatus } from "./distributed-limiter.ts";
import type { Member } from "./member.ts";
import type { SwarmResource } from "./swarm-resource.ts";
import { totalOf } from "./total.ts";

export function statusOf(member: Member, resources: Iterable<SwarmResource>, now: number): DistributedStatus {
  const { agent, link, echoAt, isClosed } = member;
  const { heartbeatMs } = agent.config.tuning;
  const ignored: Record<string, number> = {};
  for (const [reason, count] of [...link.ignored, ...agent.ignored]) ignored[reason] = (ignored[reason] ?? 0) + count;
  const peers: PeerStatus[] = [];
  for (const { id, state, heardAt } of agent.peers.values())
    peers.push({ agentId: id, state, heardAgoMs: now - heardAt });
  return {
    agentId: agent.config.id,
    mode: isClosed ? "closed" : modeOf(agent, now),
    bus: link.state,
    members: agent.members,
    peers,
    viewAgeMs: agent.heardAt === -Infinity ? undefined : now - agent.heardAt,
    lastEchoAgeMs: echoAt === -Infinity ? undefined : now - echoAt,
    // It may have been stopped since.
    isDuplicate: now - agent.twinAt < 10 * heartbeatMs,
    resources: [...resources].map((resource) => resourceStatus(resource, now)),
    published: link.published,
    publishedBytes: link.publishedBytes,
    unpublished: link.unpublished,
    lastFailure: link.lastFailure === undefined ? undefined : String(link.lastFailure),
    ignored,
  };
}

function resourceStatus(resource: SwarmResource, now: number): ResourceStatus {
  const { pool, name, room } = resource;
  const level = levelAt(pool.level, now);
  const { epoch, origin, reason, cutAt } = pool.level;
  const cause: LevelCause | undefined =
    epoch === 0 ? undefined : { agentId: agentOf(origin), reason, agoMs: now - cutAt };
  return {
    resource: name,
    configured: at(pool.config.limits, 0),
    total: totalOf(pool, now),
    share: resource.share(now),
    level,
    cause,
    pausedForMs: Math.max(0, pausedUntil(pool.level) - now),
    waiting: room?.size ?? 0,
  };
}
