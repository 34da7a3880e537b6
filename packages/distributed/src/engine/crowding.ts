import type { Agent } from "./agent.ts";
import { countMembers, dropClaims } from "./membership.ts";
import { TRUST } from "./trust-rules.ts";

/** The part of all peers that is forgotten at once, because finding the oldest strangers visits all peers. */
const PART = 1 / 8;

/**
 * Makes place for one more peer. Peers that have reported for the shortest time are removed first, of these the one
 * with the oldest message: inventing agents is cheap, and sending messages for each of them all the time is not. The
 * usage of a forgotten peer stays in the window. A forgotten peer that reports again is a new peer, whose usage counts
 * again: too much, never too little.
 */
export function makePlace(agent: Agent): void {
  const { peers, newest } = agent.membership;
  if (peers.size < TRUST.mostPeers[agent.config.isSigned ? "signed" : "unsigned"]) return;
  const strangersFirst = [...peers.values()].sort(
    (a, b) => a.receivedAt - a.firstReceivedAt - (b.receivedAt - b.firstReceivedAt) || a.receivedAt - b.receivedAt,
  );
  for (const peer of strangersFirst.slice(0, Math.ceil(peers.size * PART))) {
    dropClaims(agent, peer);
    peers.delete(peer.key);
    agent.membership.rememberedReports -= peer.remembered.size;
    if (newest.get(peer.id) === peer) newest.delete(peer.id);
  }
  countMembers(agent);
}
