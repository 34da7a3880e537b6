import { type AllocationRequest, LEARN_HEARTBEATS, type QuotaReply, type QuotaRequest } from "../../allocator.ts";
import { capacityOf, isPaused, receiveLevel, receiveLimits, reportedLevel } from "./level.ts";
import { joinOrLeave, leave, lend, serve } from "./queue.ts";
import { type AgentRow, addTo, at, holdOf, newQuotaState, type QuotaState } from "./quota-state.ts";
import { SilentAgents } from "./silent-agents.ts";
import { UsageWindow } from "./usage-window.ts";

/** A clock that goes back by more than this belongs to another server, so all stored times are invalid. */
const BACK_MS = 5_000;
/** Maximum number of overdue agents processed in one call. */
const MOST_SWEPT = 64;

export type AllocationCaller = Pick<
  AllocationRequest,
  "agentId" | "life" | "sequence" | "weight" | "heartbeatMs" | "nextMs" | "bye"
>;

/** One quota of a store in memory, the reference implementation of `Allocator`'s rules. Time is an argument. */
export class AllocationLedger {
  #state: QuotaState;
  #window: UsageWindow;
  #silence: SilentAgents;

  constructor(windowMs: number, limits: readonly number[]) {
    this.#state = newQuotaState(windowMs, limits);
    this.#window = new UsageWindow(limits.length, windowMs);
    this.#silence = new SilentAgents(limits.length, windowMs);
  }

  apply(caller: AllocationCaller, quota: QuotaRequest, time: number): QuotaReply {
    if (time < this.#state.at - BACK_MS) this.#forget();
    const state = this.#state;
    const now = Math.max(time, state.at);
    this.#begin(caller, quota, now);
    this.#window.expire(now);
    this.#sweep(now);
    let row = state.rows.get(caller.agentId);
    if (row && (caller.life < row.incarnation || (caller.life === row.incarnation && row.state === "left")))
      return this.#refusal("a later incarnation of this agent has reported");
    if (row && caller.life > row.incarnation) {
      this.#end(row, now);
      row = undefined;
    }
    const isNews = !row || caller.sequence > row.sequence;
    if (isNews) {
      row = this.#count(row, caller, quota, now);
      receiveLimits(state, quota.limits, caller.heartbeatMs, now);
      receiveLevel(state, quota.level, now);
    }
    return this.#answer(row as AgentRow, caller, quota, isNews, now);
  }

  /** Detects that the store has lost knowledge, and then makes it learn for a while. */
  #begin({ heartbeatMs, nextMs }: AllocationCaller, quota: QuotaRequest, now: number): void {
    const state = this.#state;
    const isLost = now > state.expectBy || quota.stamp > state.stamp;
    if (isLost && now >= state.learnUntil) state.learnUntil = now + LEARN_HEARTBEATS * heartbeatMs;
    state.stamp = Math.max(state.stamp, quota.stamp) + 1;
    state.at = now;
    state.expectBy = Math.max(state.expectBy, now + LEARN_HEARTBEATS * nextMs);
  }

  /** Counts the usage since the agent's last report, and records its grants and demand. */
  #count(known: AgentRow | undefined, caller: AllocationCaller, quota: QuotaRequest, now: number): AgentRow {
    const state = this.#state;
    const row = known ?? this.#newRow(caller, quota, now);
    if (known) {
      if (quota.endsMs === undefined) this.#countUse(known, quota, now);
      if (known.state === "silent") this.#revive(known);
      addTo(state.held, holdOf(known), -1);
      // The agent does not know yet of the grants since its last reply.
      known.allowed = known.allowed.map((amount, i) => amount - Math.max(0, at(known.told, i) - at(quota.allowed, i)));
      state.weights += caller.weight - known.weight;
    }
    row.sequence = caller.sequence;
    row.at = now;
    row.nextMs = caller.nextMs;
    row.weight = caller.weight;
    row.sent = quota.sent;
    row.back = quota.back;
    const before = row.used;
    row.used = quota.limits.map((_, i) => quota.bins.reduce((sum, bin) => sum + at(bin, i), 0));
    if (quota.endsMs !== undefined) this.#countHeld(row, before, quota.endsMs, now);
    row.next = quota.next;
    row.all = quota.all;
    // An isolated agent may have used more than its grants.
    row.allowed = quota.sent.map((sent, i) => (caller.bye ? sent : Math.max(sent, at(row.allowed, i))));
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

  #newRow(
    { agentId: id, life: incarnation, sequence, nextMs, weight }: AllocationCaller,
    quota: QuotaRequest,
    now: number,
  ): AgentRow {
    const state = this.#state;
    if (quota.endsMs === undefined)
      this.#window.spread(
        quota.limits.map(() => Infinity),
        quota.bins,
        now,
      );
    const nothing = quota.limits.map(() => 0);
    const row = {
      id,
      incarnation,
      sequence,
      at: now,
      nextMs,
      weight,
      virtualTime: 0,
      place: undefined,
      state: "live",
    } as AgentRow;
    row.due = state.dues.push({ at: now, order: ++state.orders, row });
    row.fair = nothing;
    row.told = nothing;
    // Unknown grants can only come from a store that has lost its memory.
    const isLearning = now < state.learnUntil;
    row.allowed = quota.sent.map((sent, i) => (isLearning ? Math.max(sent, at(quota.allowed, i)) : sent));
    state.rows.set(id, row);
    state.members++;
    state.weights += weight;
    return row;
  }

  #countUse(row: AgentRow, quota: QuotaRequest, now: number): void {
    const sent = quota.sent.map((amount, i) => Math.max(0, amount - at(row.sent, i)));
    const back = quota.back.map((amount, i) => Math.max(0, amount - at(row.back, i)));
    const silentMs = now - row.at;
    if (silentMs > 2 * row.nextMs) {
      this.#window.spread(
        sent.map((amount, i) => Math.max(0, amount - at(back, i))),
        quota.bins,
        now,
      );
      return;
    }
    this.#window.add(now - Math.min(Math.max(0, quota.sentAgoMs), silentMs), sent, now);
    this.#window.add(now - Math.max(0, quota.backAgoMs), back, now, -1);
  }

  /**
   * Counts the agent's calls in flight. All of them have one place in the window, which moves with every report and
   * expires when all calls have ended.
   */
  #countHeld(row: AgentRow, before: readonly number[], endsMs: number, now: number): void {
    if (row.heldAt !== undefined) this.#window.add(row.heldAt, before, now, -1);
    row.heldAt = now + endsMs - this.#state.windowMs;
    this.#window.add(row.heldAt, row.used, now);
  }

  /** Ends an incarnation; all of its grants count as used. */
  #end(row: AgentRow, now: number): void {
    const state = this.#state;
    if (row.state === "silent") this.#silence.remove(row);
    if (row.state === "live") {
      const hold = holdOf(row);
      this.#window.add(row.heldAt ?? now, hold, now);
      addTo(state.held, hold, -1);
      state.members--;
      state.weights -= row.weight;
      leave(state, row);
    }
    state.dues.remove(row.due);
    state.rows.delete(row.id);
  }

  #revive(row: AgentRow): void {
    this.#silence.remove(row);
    row.state = "live";
    this.#state.members++;
    this.#state.weights += row.weight;
    addTo(this.#state.held, holdOf(row));
  }

  /** Marks overdue agents as silent, and forgets agents that have been silent for long. */
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

  #setDue(row: AgentRow, time: number): void {
    const { dues } = this.#state;
    dues.remove(row.due);
    row.due = dues.push({ at: time, order: ++this.#state.orders, row });
  }

  /** Reports of ended agents may still arrive, and the capacity held for them must expire first. */
  get #forgetMs(): number {
    return 2 * this.#state.windowMs + 60_000;
  }

  #answer(row: AgentRow, caller: AllocationCaller, quota: QuotaRequest, isNews: boolean, now: number): QuotaReply {
    const state = this.#state;
    const capacity = capacityOf(state, quota.headroom, quota.least, now);
    const heldForSilent = this.#silence.heldAt(now);
    const usedNow = () => capacity.map((_, i) => at(this.#window.sum, i) + at(state.held, i) + at(heldForSilent, i));
    const isLearning = now < state.learnUntil;
    // Waiting for the store to learn is not contention.
    if (isLearning && state.lineSince !== undefined) state.lineSince = now;
    let allowed: readonly number[] = row.allowed;
    if (!quota.journal && !isLearning && isNews && row.state === "live" && !isPaused(state, now)) {
      const available = usedNow().map((amount, i) => at(capacity, i) - amount);
      serve(state, capacity, available, caller.heartbeatMs, now, quota.endsMs === undefined);
      allowed = lend(state, row, available);
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
    if (!quota.journal && isNews && row.state === "live") row.fair = fair;
    if (quota.crowd) {
      if (isLearning) state.isStore ||= quota.crowd.isStore;
      else state.isStore = state.members > (state.isStore ? quota.crowd.below - 1 : quota.crowd.above);
    }
    const { stamp, members, weights, limits, isStore } = state;
    const level = reportedLevel(state, now);
    const reply = { error: undefined, stamp, isLearning, members, weights, capacity, used, fair, level, isStore };
    const bins = quota.journal?.isAsking ? this.#window.bins(now) : undefined;
    return { ...reply, limits: [...limits], allowed: [...allowed], bins };
  }

  #refusal(error: string): QuotaReply {
    const { stamp, members, weights, limits } = this.#state;
    const nothing = limits.map(() => 0);
    const reply = { stamp, isLearning: true, members, weights, level: undefined, isStore: this.#state.isStore };
    return { ...reply, error, limits: nothing, capacity: nothing, used: nothing, allowed: nothing, fair: nothing };
  }

  #forget(): void {
    const { windowMs, limits } = this.#state;
    this.#state = newQuotaState(windowMs, limits);
    this.#window = new UsageWindow(limits.length, windowMs);
    this.#silence = new SilentAgents(limits.length, windowMs);
  }
}
