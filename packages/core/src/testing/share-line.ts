import { addTo, at, fits, holdOf, type ShareRow, type ShareState, SLACK } from "./share-state.ts";

/** So many at most in one call: nobody else is answered meanwhile. */
const MOST_SERVED = 256;
/** From so many heartbeats on in which somebody waits, all go at a steady pace, in limits per window. */
const CONTENDED = 2;
const PACE = 1.1;
const DEBT = 2;

/** The largest part that it is of any limit. */
function sizeOf(amounts: readonly number[], limits: readonly number[]): number {
  return amounts.reduce((most, amount, i) => Math.max(most, amount / at(limits, i)), 0);
}

/** What it wants and was not handed yet. */
function wantOf({ sent, all, allowed }: ShareRow): number[] {
  return all.map((amount, i) => Math.max(0, at(sent, i) + amount - at(allowed, i)));
}

/**
 * Takes a place in the line, keeps it, or leaves it. Whoever wanted nothing for a while starts behind those who wait and
 * were served no more than whoever was served last; `isStaying`: it was served and goes on waiting.
 */
export function joinOrLeave(state: ShareState, row: ShareRow, now: number, isStaying = false): void {
  const isWaiting = row.state === "live" && wantOf(row).some((amount) => amount > SLACK);
  if (!isWaiting) leave(state, row);
  else if (!row.place) {
    row.place = state.line.push({
      turn: isStaying ? row.turn : Math.max(row.turn, state.turn),
      order: ++state.orders,
      row,
    });
    state.lineSince ??= now;
  }
}

export function leave(state: ShareState, row: ShareRow): void {
  if (row.place) state.line.remove(row.place);
  row.place = undefined;
  if (state.line.size === 0) state.lineSince = undefined;
}

/** Hands out what there is room for, in the order of the line. Takes that from the room. */
export function serve(
  state: ShareState,
  capacity: readonly number[],
  room: number[],
  heartbeatMs: number,
  now: number,
): void {
  const { windowMs, line, ahead } = state;
  const elapsedMs = Math.max(0, now - state.aheadAt);
  for (let i = 0; i < ahead.length; i++)
    ahead[i] = Math.max(
      0,
      at(ahead, i) - (elapsedMs === Infinity ? 0 : (elapsedMs * PACE * at(capacity, i)) / windowMs),
    );
  state.aheadAt = now;
  const isContended = state.lineSince !== undefined && now - state.lineSince > CONTENDED * heartbeatMs;
  for (let served = 0; served < MOST_SERVED; served++) {
    const place = line.first();
    if (!place) return;
    const { row } = place;
    // While the level is too low for it, a large call must not hold up those behind it.
    if (!fits(row.next, capacity)) {
      leave(state, row);
      continue;
    }
    const want = wantOf(row);
    let need = row.next.map((amount, i) => Math.max(0, at(row.sent, i) + amount - at(row.allowed, i)));
    if (need.every((amount) => amount <= SLACK)) need = want.map((amount, i) => Math.min(amount, at(row.next, i)));
    if (!fits(need, room) || (isContended && isAhead(state, need, capacity, heartbeatMs))) return;
    // Whoever is alone in the line leaves half for those who may come.
    if (served > 0 && line.size === 1) return;
    const part = (row.weight * state.members) / (state.weights * line.size);
    const grant = need.map((amount, i) => {
      const paced = (at(capacity, i) * heartbeatMs) / windowMs;
      const free = Math.max(paced, isContended ? 0 : 0.5 * at(room, i));
      const next = at(row.next, i);
      const quantum = next > 0 ? Math.floor((free * part) / next) * next : 0;
      return Math.max(amount, Math.min(at(want, i), quantum, at(room, i)));
    });
    if (grant.every((amount) => amount <= SLACK)) {
      leave(state, row);
      continue;
    }
    addTo(row.allowed, grant);
    addTo(state.held, grant);
    addTo(ahead, grant);
    addTo(room, grant, -1);
    // However much it got at once when there was enough, it sets it back by a few fair shares at most, or by one call.
    const debt = Math.max(DEBT / state.weights, sizeOf(row.next, state.limits) / row.weight);
    const size = sizeOf(grant, state.limits);
    row.turn = place.turn + Math.min(size / row.weight, debt);
    state.turn = Math.max(state.turn, Math.min(row.turn, place.turn + (size * state.members) / state.weights));
    const since = state.lineSince;
    leave(state, row);
    joinOrLeave(state, row, now, true);
    // Whoever goes to the end of the line does not begin a new one.
    if (state.lineSince !== undefined) state.lineSince = since;
  }
}

/** All together are a heartbeat's worth ahead of the pace. Calls of which one is more than that come as they come. */
function isAhead(
  { ahead, windowMs }: ShareState,
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
 * While nobody waits, each has its part of half of what is free in advance, so that a call need not wait for an answer.
 * Otherwise it is asked to let go of what it does not want.
 */
export function lend(state: ShareState, row: ShareRow, room: number[]): number[] {
  const hold = holdOf(row);
  const part = (0.5 * row.weight) / state.weights;
  // Whole amounts: fractions of a stand-in for "unlimited" would leave rounding errors as large as a call in the sums.
  let lent = room.map((amount, i) => Math.floor(Math.max(0, amount + at(hold, i)) * part));
  if (state.line.size > 0 || lent.some((amount) => amount < 1)) lent = lent.map(() => 0);
  return row.allowed.map((allowed, i) => {
    const sent = at(row.sent, i);
    const keep = sent + Math.max(at(row.all, i), at(lent, i));
    if (keep <= allowed) return keep;
    // What it waits for it is handed in its turn.
    const more = Math.max(0, Math.min(sent + at(lent, i) - allowed, at(room, i)));
    row.allowed[i] = allowed + more;
    state.held[i] = at(state.held, i) + more;
    room[i] = at(room, i) - more;
    return allowed + more;
  });
}
