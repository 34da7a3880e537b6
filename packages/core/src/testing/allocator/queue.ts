import { type AgentRow, addTo, at, fits, holdOf, type QuotaState, SLACK } from "./quota-state.ts";

/** Maximum number of grants in one call, because the store answers no other agent meanwhile. */
const MOST_SERVED = 256;
/**
 * Number of heartbeats with waiting agents after which grants are paced, the pace as a multiple of the capacity, and
 * the limit on an agent's debt in fair shares.
 */
const CONTENDED = 2;
const PACE = 1.1;
const DEBT = 2;

/** Returns the largest fraction that the amounts take of any limit. */
function sizeOf(amounts: readonly number[], limits: readonly number[]): number {
  return amounts.reduce((most, amount, i) => Math.max(most, amount / at(limits, i)), 0);
}

/** Returns the demand of an agent that is not covered by grants. */
function wantOf({ sent, all, allowed }: AgentRow): number[] {
  return all.map((amount, i) => Math.max(0, at(sent, i) + amount - at(allowed, i)));
}

/**
 * Adds an agent to the queue, keeps its place, or removes it. An agent that had no demand for a while starts behind
 * waiting agents that were served no more than the last one served. `isStaying`: the agent was just served and
 * continues to wait.
 */
export function joinOrLeave(state: QuotaState, row: AgentRow, now: number, isStaying = false): void {
  const isWaiting = row.state === "live" && wantOf(row).some((amount) => amount > SLACK);
  if (!isWaiting) leave(state, row);
  else if (!row.place) {
    row.place = state.line.push({
      virtualTime: isStaying ? row.virtualTime : Math.max(row.virtualTime, state.virtualTime),
      order: ++state.orders,
      row,
    });
    state.lineSince ??= now;
  }
}

export function leave(state: QuotaState, row: AgentRow): void {
  if (row.place) state.line.remove(row.place);
  row.place = undefined;
  if (state.line.size === 0) state.lineSince = undefined;
}

/**
 * Grants available capacity in the order of the queue, and subtracts the grants from `available`. Limits on calls in flight
 * are not paced, because ending calls free the capacity again.
 */
export function serve(
  state: QuotaState,
  capacity: readonly number[],
  available: number[],
  heartbeatMs: number,
  now: number,
  isPaced: boolean,
): void {
  const { windowMs, line, ahead } = state;
  const elapsedMs = Math.max(0, now - state.aheadAt);
  for (let i = 0; i < ahead.length; i++)
    ahead[i] = Math.max(
      0,
      at(ahead, i) - (elapsedMs === Infinity ? 0 : (elapsedMs * PACE * at(capacity, i)) / windowMs),
    );
  state.aheadAt = now;
  const isContended = isPaced && state.lineSince !== undefined && now - state.lineSince > CONTENDED * heartbeatMs;
  for (let served = 0; served < MOST_SERVED; served++) {
    const place = line.first();
    if (!place) return;
    const { row } = place;
    // A call that exceeds the present capacity must not block the agents behind it.
    if (!fits(row.next, capacity)) {
      leave(state, row);
      continue;
    }
    const want = wantOf(row);
    let need = row.next.map((amount, i) => Math.max(0, at(row.sent, i) + amount - at(row.allowed, i)));
    if (need.every((amount) => amount <= SLACK)) need = want.map((amount, i) => Math.min(amount, at(row.next, i)));
    if (!fits(need, available) || (isContended && isAhead(state, need, capacity, heartbeatMs))) return;
    // A single waiting agent leaves half of the capacity for agents that may join.
    if (served > 0 && line.size === 1) return;
    const part = (row.weight * state.members) / (state.weights * line.size);
    const grant = need.map((amount, i) => {
      const paced = (at(capacity, i) * heartbeatMs) / windowMs;
      const free = Math.max(paced, isContended ? 0 : 0.5 * at(available, i));
      const next = at(row.next, i);
      const quantum = next > 0 ? Math.floor((free * part) / next) * next : 0;
      return Math.max(amount, Math.min(at(want, i), quantum, at(available, i)));
    });
    if (grant.every((amount) => amount <= SLACK)) {
      leave(state, row);
      continue;
    }
    addTo(row.allowed, grant);
    addTo(state.held, grant);
    addTo(ahead, grant);
    addTo(available, grant, -1);
    // A large grant in times of plenty sets an agent back by at most a few fair shares, or by one call.
    const debt = Math.max(DEBT / state.weights, sizeOf(row.next, state.limits) / row.weight);
    const size = sizeOf(grant, state.limits);
    row.virtualTime = place.virtualTime + Math.min(size / row.weight, debt);
    state.virtualTime = Math.max(
      state.virtualTime,
      Math.min(row.virtualTime, place.virtualTime + (size * state.members) / state.weights),
    );
    const since = state.lineSince;
    leave(state, row);
    joinOrLeave(state, row, now, true);
    // An agent that rejoins at the end of the queue does not start a new contention period.
    if (state.lineSince !== undefined) state.lineSince = since;
  }
}

/** Returns whether the grants are one heartbeat ahead of the pace. Calls larger than that lead are not paced. */
function isAhead(
  { ahead, windowMs }: QuotaState,
  need: readonly number[],
  capacity: readonly number[],
  heartbeatMs: number,
): boolean {
  return ahead.some((amount, i) => {
    const lead = (PACE * at(capacity, i) * heartbeatMs) / windowMs;
    return at(need, i) <= lead && amount > lead;
  });
}

/**
 * Grants an agent its part of half of the free capacity in advance while no agent waits, so that a call need not wait
 * for a reply. Otherwise asks the agent to return the grants it does not need.
 */
export function lend(state: QuotaState, row: AgentRow, available: number[]): number[] {
  const hold = holdOf(row);
  const part = (0.5 * row.weight) / state.weights;
  // Whole amounts only: fractions of a stand-in for "unlimited" would leave rounding errors in the sums as large as a
  // call.
  let lent = available.map((amount, i) => Math.floor(Math.max(0, amount + at(hold, i)) * part));
  if (state.line.size > 0 || lent.some((amount) => amount < 1)) lent = lent.map(() => 0);
  return row.allowed.map((allowed, i) => {
    const sent = at(row.sent, i);
    const keep = sent + Math.max(at(row.all, i), at(lent, i));
    if (keep <= allowed) return keep;
    // Capacity that the agent waits for is granted in queue order.
    const more = Math.max(0, Math.min(sent + at(lent, i) - allowed, at(available, i)));
    row.allowed[i] = allowed + more;
    state.held[i] = at(state.held, i) + more;
    available[i] = at(available, i) - more;
    return allowed + more;
  });
}
