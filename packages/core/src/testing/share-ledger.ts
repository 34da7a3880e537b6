import { LEARN_HEARTBEATS, type ShareAnswer, type SharePool, type ShareReport } from "../share-store.ts";
import { capacityOf, hearLevel, hearLimits, isPaused, tellLevel } from "./share-level.ts";
import { joinOrLeave, leave, lend, serve } from "./share-line.ts";
import { ShareSilence } from "./share-silence.ts";
import { addTo, at, holdOf, newShareState, type ShareRow, type ShareState } from "./share-state.ts";
import { ShareWindow } from "./share-window.ts";

/** A clock that went back by more than this is another server's: nothing that it knows of times is right. */
const BACK_MS = 5_000;
/** So many who fell silent are looked after in one call. */
const MOST_SWEPT = 64;

export type ShareCaller = Pick<
  ShareReport,
  "agentId" | "life" | "sequence" | "weight" | "heartbeatMs" | "nextMs" | "bye"
>;

/** One pool of a store, in memory: what every store must do, see `ShareStore`. Time is an argument. */
export class ShareLedger {
  #state: ShareState;
  #window: ShareWindow;
  #silence: ShareSilence;

  constructor(windowMs: number, limits: readonly number[]) {
    this.#state = newShareState(windowMs, limits);
    this.#window = new ShareWindow(limits.length, windowMs);
    this.#silence = new ShareSilence(limits.length, windowMs);
  }

  apply(caller: ShareCaller, pool: SharePool, time: number): ShareAnswer {
    if (time < this.#state.at - BACK_MS) this.#forget();
    const state = this.#state;
    const now = Math.max(time, state.at);
    this.#begin(caller, pool, now);
    this.#window.expire(now);
    this.#sweep(now);
    let row = state.rows.get(caller.agentId);
    if (row && (caller.life < row.life || (caller.life === row.life && row.state === "left")))
      return this.#nothing("a later life of this agent is there");
    if (row && caller.life > row.life) {
      this.#end(row, now);
      row = undefined;
    }
    const isNews = !row || caller.sequence > row.sequence;
    if (isNews) {
      row = this.#count(row, caller, pool, now);
      hearLimits(state, pool.limits, caller.heartbeatMs, now);
      hearLevel(state, pool.level, now);
    }
    return this.#answer(row as ShareRow, caller, pool, isNews, now);
  }

  /** Less is known than there was: for a while it is only listened to. */
  #begin({ heartbeatMs, nextMs }: ShareCaller, pool: SharePool, now: number): void {
    const state = this.#state;
    const isLost = now > state.expectBy || pool.stamp > state.stamp;
    if (isLost && now >= state.learnUntil) state.learnUntil = now + LEARN_HEARTBEATS * heartbeatMs;
    state.stamp = Math.max(state.stamp, pool.stamp) + 1;
    state.at = now;
    state.expectBy = Math.max(state.expectBy, now + LEARN_HEARTBEATS * nextMs);
  }

  /** Counts what it has used since its last report, and takes over what it holds and wants. */
  #count(known: ShareRow | undefined, caller: ShareCaller, pool: SharePool, now: number): ShareRow {
    const state = this.#state;
    const row = known ?? this.#newRow(caller, pool, now);
    if (known) {
      this.#countUse(known, pool, now);
      if (known.state === "silent") this.#revive(known);
      addTo(state.held, holdOf(known), -1);
      // What it was handed since its last answer, it does not know of yet.
      known.allowed = known.allowed.map((amount, i) => amount - Math.max(0, at(known.told, i) - at(pool.allowed, i)));
      state.weights += caller.weight - known.weight;
    }
    row.sequence = caller.sequence;
    row.at = now;
    row.nextMs = caller.nextMs;
    row.weight = caller.weight;
    row.sent = pool.sent;
    row.back = pool.back;
    row.used = pool.limits.map((_, i) => pool.bins.reduce((sum, bin) => sum + at(bin, i), 0));
    row.next = pool.next;
    row.all = pool.all;
    // One that went on by itself may have used more than it was handed.
    row.allowed = pool.sent.map((sent, i) => (caller.bye ? sent : Math.max(sent, at(row.allowed, i))));
    addTo(state.held, holdOf(row));
    if (caller.bye) {
      row.state = "left";
      state.members--;
      state.weights -= row.weight;
    }
    this.#setDue(row, caller.bye ? now + this.#forgetMs : now + LEARN_HEARTBEATS * caller.nextMs);
    joinOrLeave(state, row, now);
    return row;
  }

  #newRow({ agentId: id, life, sequence, nextMs, weight }: ShareCaller, pool: SharePool, now: number): ShareRow {
    const state = this.#state;
    this.#window.spread(
      pool.limits.map(() => Infinity),
      pool.bins,
      now,
    );
    const nothing = pool.limits.map(() => 0);
    const row = { id, life, sequence, at: now, nextMs, weight, turn: 0, place: undefined, state: "live" } as ShareRow;
    row.due = state.dues.push({ at: now, order: ++state.orders, row });
    row.fair = nothing;
    row.told = nothing;
    // Only a memory that was lost can have handed out what is not known here.
    const isLearning = now < state.learnUntil;
    row.allowed = pool.sent.map((sent, i) => (isLearning ? Math.max(sent, at(pool.allowed, i)) : sent));
    state.rows.set(id, row);
    state.members++;
    state.weights += weight;
    return row;
  }

  #countUse(row: ShareRow, pool: SharePool, now: number): void {
    const sent = pool.sent.map((amount, i) => Math.max(0, amount - at(row.sent, i)));
    const back = pool.back.map((amount, i) => Math.max(0, amount - at(row.back, i)));
    const silentMs = now - row.at;
    if (silentMs > 2 * row.nextMs) {
      this.#window.spread(
        sent.map((amount, i) => Math.max(0, amount - at(back, i))),
        pool.bins,
        now,
      );
      return;
    }
    this.#window.add(now - Math.min(Math.max(0, pool.sentAgoMs), silentMs), sent, now);
    this.#window.add(now - Math.max(0, pool.backAgoMs), back, now, -1);
  }

  /** What an ended life held may have been used. */
  #end(row: ShareRow, now: number): void {
    const state = this.#state;
    if (row.state === "silent") this.#silence.remove(row);
    if (row.state === "live") {
      const hold = holdOf(row);
      this.#window.add(now, hold, now);
      addTo(state.held, hold, -1);
      state.members--;
      state.weights -= row.weight;
      leave(state, row);
    }
    state.dues.remove(row.due);
    state.rows.delete(row.id);
  }

  #revive(row: ShareRow): void {
    this.#silence.remove(row);
    row.state = "live";
    this.#state.members++;
    this.#state.weights += row.weight;
    addTo(this.#state.held, holdOf(row));
  }

  /** Those who did not report in time are silent; those who were for long are forgotten. */
  #sweep(now: number): void {
    const state = this.#state;
    for (let swept = 0; swept < MOST_SWEPT; swept++) {
      const due = state.dues.first();
      if (!due || due.at > now) return;
      const { row } = due;
      if (row.state === "live") {
        leave(state, row);
        this.#silence.add(row);
        row.state = "silent";
        state.members--;
        state.weights -= row.weight;
        addTo(state.held, holdOf(row), -1);
        this.#setDue(row, row.at + this.#forgetMs);
      } else {
        if (row.state === "silent") this.#silence.remove(row);
        state.dues.remove(row.due);
        state.rows.delete(row.id);
      }
    }
  }

  #setDue(row: ShareRow, time: number): void {
    const { dues } = this.#state;
    dues.remove(row.due);
    row.due = dues.push({ at: time, order: ++this.#state.orders, row });
  }

  /** The words of the dead may still arrive, and what was kept free for them has to run out. */
  get #forgetMs(): number {
    return 2 * this.#state.windowMs + 60_000;
  }

  #answer(row: ShareRow, caller: ShareCaller, pool: SharePool, isNews: boolean, now: number): ShareAnswer {
    const state = this.#state;
    const capacity = capacityOf(state, pool.headroom, pool.least, now);
    const kept = this.#silence.kept(now);
    const usedNow = () => capacity.map((_, i) => at(this.#window.sum, i) + at(state.held, i) + at(kept, i));
    const isLearning = now < state.learnUntil;
    // That it waits for the store to learn does not mean that there is too little.
    if (isLearning && state.lineSince !== undefined) state.lineSince = now;
    let allowed: readonly number[] = row.allowed;
    if (!isLearning && isNews && row.state === "live" && !isPaused(state, now)) {
      const room = usedNow().map((amount, i) => at(capacity, i) - amount);
      serve(state, capacity, room, caller.heartbeatMs, now);
      allowed = lend(state, row, room);
    }
    if (isNews) row.told = [...row.allowed];
    const used = usedNow();
    const hold = holdOf(row);
    const part = state.weights > 0 ? row.weight / state.weights : 0;
    const fair = capacity.map((amount, i) => {
      const all = at(used, i);
      const own = at(row.used, i) + at(hold, i);
      return own * (all > amount ? amount / all : 1) + Math.max(0, amount - all) * part;
    });
    if (isNews && row.state === "live") row.fair = fair;
    if (pool.crowd) {
      if (isLearning) state.isStore ||= pool.crowd.isStore;
      else state.isStore = state.members > (state.isStore ? pool.crowd.below - 1 : pool.crowd.above);
    }
    const { stamp, members, weights, limits, isStore } = state;
    const level = tellLevel(state, now);
    const told = { error: undefined, stamp, isLearning, members, weights, capacity, used, fair, level, isStore };
    return { ...told, limits: [...limits], allowed: [...allowed] };
  }

  #nothing(error: string): ShareAnswer {
    const { stamp, members, weights, limits } = this.#state;
    const nothing = limits.map(() => 0);
    const told = { stamp, isLearning: true, members, weights, level: undefined, isStore: this.#state.isStore };
    return { ...told, error, limits: nothing, capacity: nothing, used: nothing, allowed: nothing, fair: nothing };
  }

  #forget(): void {
    const { windowMs, limits } = this.#state;
    this.#state = newShareState(windowMs, limits);
    this.#window = new ShareWindow(limits.length, windowMs);
    this.#silence = new ShareSilence(limits.length, windowMs);
  }
}
