/**
 * Weighted fair queueing over all agents. Each agent's virtual time grows by the size of its calls, in limits, divided
 * by its weight; of all claims, the one with the lowest virtual time is served first.
 *
 * Invariant: `own` is at most `swarm` plus the debt that `advance` allows.
 */
export interface VirtualTime {
  /** Virtual time of this agent. */
  own: number;
  /**
   * Highest virtual time that any agent is known to have been served at. Idle agents resume here and accumulate no
   * credit.
   */
  swarm: number;
}

/**
 * Virtual time of the next claim. An agent may lag behind the swarm by `lag` and keep its place: the swarm's time advances
 * between two claims, and agents with large weights would lose most by that.
 */
export function nextVirtualTime({ own, swarm }: VirtualTime, lag: number): number {
  return Math.max(own, swarm - lag);
}

/** Counts a call of this size. A large call sets its agent back by at most `debt`. */
export function advance(virtualTime: VirtualTime, size: number, debt: number, lag: number): void {
  const start = nextVirtualTime(virtualTime, lag);
  virtualTime.swarm = Math.max(virtualTime.swarm, start);
  virtualTime.own = Math.min(start + size, virtualTime.swarm + debt);
}

/** The place of a claim in the order of service. */
export interface Place {
  readonly virtualTime: number;
  /**
   * An unsigned 32-bit hash that orders claims with equal virtual times. It changes with every claim, so no agent
   * always wins.
   */
  readonly tie: number;
}

export function isBefore(a: Place, b: Place): boolean {
  return a.virtualTime !== b.virtualTime ? a.virtualTime < b.virtualTime : a.tie < b.tie;
}
