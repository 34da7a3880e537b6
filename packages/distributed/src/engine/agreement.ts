import type { Agent } from "./agent.ts";
import { type Amounts, addTo, at, fits, minus, scaled, takeFrom, zeros } from "./amounts.ts";
import { isHeard } from "./claim.ts";
import type { Ends, Pool } from "./pool.ts";
import { capacityOf, roomOf } from "./room.ts";
import { forgetKnown } from "./schedule.ts";
import { fairShares } from "./share.ts";
import { partKeptFree } from "./silence.ts";
import { isBefore, type Place } from "./turn.ts";

/** What all know about an agent; this agent's key is undefined. */
interface Member {
  readonly key: string | undefined;
  readonly used: Amounts;
  readonly waiting: Amounts;
  readonly weight: number;
  readonly claim: (Place & { readonly amounts: Amounts }) | undefined;
}

/**
 * What each agent may go on using when it is cut off, and what the others keep free for it. Everyone who heard the same
 * arrives at the same numbers, and their sum is the capacity.
 *
 * At first each has what it has used, what it has claimed and would be granted, and its part of what is free then, so
 * that the window that is running holds. A window later each has its fair share. What came free since it last heard
 * anyone, others may have used.
 */
export function agreement(agent: Agent, pool: Pool, now: number, since = now): Map<string | undefined, Ends> {
  forgetKnown(agent, pool, now);
  const room = roomOf(agent, pool, now);
  takeFrom(room, scaled(capacityOf(agent, pool, now), (now - since) / pool.config.windowMs));
  // What this agent has used and not said yet, the others do not count.
  const unconfirmed = unconfirmedUsage(pool);
  addTo(room, unconfirmed);
  const members = membersOf(agent, pool, unconfirmed, now);
  const weights = members.map(({ weight }) => weight);
  const weightSum = weights.reduce((sum, weight) => sum + weight, 0);
  const granted = grantInOrder(members, room);
  const still = stillUsed(members, minus(pool.used.sum, unconfirmed));
  const capacity = minus(capacityOf(agent, pool, now), keptInTheEnd(agent, pool, now));
  const to = fairEnds(members, capacity, still, weights, weightSum);
  return new Map(
    members.map((member, j) => {
      const { key, used, weight } = member;
      const claimed = granted.get(member);
      const from = used.map((amount, i) => {
        const free = (Math.max(0, at(room, i)) * weight) / weightSum;
        return amount * at(still, i) + (claimed ? at(claimed, i) : 0) + free;
      });
      return [key, { from, to: to.map((shares) => at(shares, j)) }];
    }),
  );
}

/** Own usage in the window that peers may not know: usage that has left the window is nobody's concern any more. */
function unconfirmedUsage({ blind, own }: Pool): number[] {
  return blind.map((amount, i) => Math.min(amount, Math.max(0, at(own.sum, i))));
}

function membersOf(agent: Agent, pool: Pool, unconfirmed: Amounts, now: number): Member[] {
  const { name } = pool.config;
  const nothing = zeros(pool.limits.length);
  const members: Member[] = [
    {
      key: undefined,
      used: minus(pool.own.sum, unconfirmed),
      // What it has said while nobody heard it is nothing that all agree on.
      waiting: pool.heardWaiting,
      weight: agent.config.weight,
      claim: pool.claim && isHeard(agent, pool, pool.claim, now) ? pool.claim : undefined,
    },
  ];
  for (const { key, weight, state, pools } of agent.peers.values()) {
    const report = pools.get(name);
    // What is kept for those who were silent before is set aside.
    if (state === "left" || (state === "silent" && report?.kept)) continue;
    const { used = nothing, waiting = nothing } = report?.said ?? {};
    members.push({ key, used, waiting, weight, claim: report?.claim });
  }
  return members;
}

/** A window later, those who were silent before have all that was agreed on, and not only what is set aside for them now. */
function keptInTheEnd(agent: Agent, pool: Pool, now: number): number[] {
  const { name, windowMs } = pool.config;
  const sum = zeros(pool.limits.length);
  for (const { state, pools, heardAt, endedAt } of agent.peers.values()) {
    const kept = state === "silent" ? pools.get(name)?.kept : undefined;
    if (kept) addTo(sum, scaled(kept.to, partKeptFree(agent.config.isolation, now - heardAt, now - endedAt, windowMs)));
  }
  return sum;
}

/** Who would still be served, one after the other, with the room that there is. Takes that from the room. */
function grantInOrder(members: readonly Member[], room: number[]): Map<Member, Amounts> {
  const granted = new Map<Member, Amounts>();
  const line = members.filter(({ claim }) => claim);
  line.sort((a, b) => (isBefore(a.claim as Place, b.claim as Place) ? -1 : 1));
  for (const member of line) {
    const { amounts } = member.claim as { amounts: Amounts };
    if (!fits(amounts, room)) break;
    granted.set(member, amounts);
    takeFrom(room, amounts);
  }
  return granted;
}

/** What they said that they had used has partly run out since: the part that is left. */
function stillUsed(members: readonly Member[], used: Amounts): number[] {
  return used.map((amount, i) => {
    const said = members.reduce((sum, member) => sum + at(member.used, i), 0);
    const most = Math.max(0, amount);
    return said > most ? most / said : 1;
  });
}

/** Max-min fair by what each uses and wants; what nobody asks for is shared by weight. For each dimension. */
function fairEnds(
  members: readonly Member[],
  capacity: Amounts,
  still: Amounts,
  weights: readonly number[],
  weightSum: number,
): number[][] {
  return capacity.map((amount, i) => {
    const most = Math.max(0, amount);
    const demands = members.map(({ used, waiting }) => Math.max(0, at(used, i) * at(still, i) + at(waiting, i)));
    const fair = fairShares(most, demands, weights);
    const rest = Math.max(0, most - fair.reduce((sum, share) => sum + share, 0));
    return fair.map((share, j) => share + (rest * at(weights, j)) / weightSum);
  });
}
