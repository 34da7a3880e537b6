import { type Agent, joiningUntil, type Peer } from "./agent.ts";
import { depart } from "./membership.ts";

/**
 * Ends silent peers that have been replaced. A platform replaces a process that has ended within seconds, and one that it
 * cannot reach after minutes, when nothing is held free for it any more. Therefore each agent that started after the
 * last word of a silent peer counts as the successor of one of them: of the one that fell silent last before that start.
 * A peer that has not ended will be heard again. Where an agent joins while another is isolated, both use the same part
 * until the isolated one slows down.
 */
export function endReplaced(agent: Agent, now: number): void {
  // An agent that joins has not heard all peers yet.
  if (now < joiningUntil(agent) + agent.config.tuning.heartbeatMs) return;
  const silent: Peer[] = [];
  const successors: Peer[] = [];
  for (const peer of agent.membership.peers.values()) {
    // Peers that fell silent while this agent was isolated may be heard again, and may have used their budgets meanwhile.
    if (peer.state === "silent" && peer.receivedAt > agent.joinedAt) silent.push(peer);
    else if (peer.state === "live" && !peer.isSuccessor) successors.push(peer);
  }
  if (silent.length === 0 || successors.length === 0) return;
  silent.sort((a, b) => b.receivedAt - a.receivedAt);
  successors.sort((a, b) => startOf(a) - startOf(b));
  for (const successor of successors) {
    const index = silent.findIndex(({ receivedAt }) => receivedAt < startOf(successor));
    const [ended] = index < 0 ? [] : silent.splice(index, 1);
    if (!ended) continue;
    successor.isSuccessor = true;
    depart(agent, ended, now);
  }
}

function startOf({ firstReceivedAt, firstUpMs }: Peer): number {
  return firstReceivedAt - firstUpMs;
}
