import type { AllocationReply, Clock, SyncReply, SyncReport } from "@hivepace/core";
import { AllocatorMemory, memorySyncStore, SyncMemory } from "@hivepace/core/testing";
import type { StoreRequest } from "../engine/index.ts";
import type { StoreOptions } from "./options.ts";
import type { Timeline } from "./timeline.ts";

type Answered<Reply> = (reply: Reply | undefined) => void;

/**
 * An in-memory store in the simulated world that can be slow, unreachable, flushed, or replaced by an outdated replica.
 */
export class SimulatedStore {
  readonly #timeline: Timeline;
  readonly #random: () => number;
  readonly #latencyMs: readonly [number, number];
  readonly #timeoutMs: number;
  /** How far the replica is behind; 0 when no fault makes a replica take over. */
  readonly #staleMs: number;
  #memory = new AllocatorMemory();
  #replica = new AllocatorMemory();
  readonly #away = new Set<(agent: number) => boolean>();
  #stalledUntil = 0;
  #failing = 0;
  /** The store's wall clock differs from that of every agent. */
  readonly #epochMs = 1_900_000_000_000;
  #wasLearning = false;
  readonly #clock: Clock = { now: () => this.#timeline.now, epochMs: () => this.#epochNow, after: never };
  #counts = memorySyncStore({ memory: new SyncMemory(this.#clock) });
  /** Number of calls that ask for a part of the limit. */
  calls = 0;
  learnings = 0;

  constructor(options: StoreOptions, timeline: Timeline, random: () => number, staleMs: number) {
    this.#latencyMs = options.latencyMs ?? [2, 10];
    this.#timeoutMs = options.timeoutMs ?? 2_000;
    this.#timeline = timeline;
    this.#random = random;
    this.#staleMs = staleMs;
  }

  allocate(from: number, ask: StoreRequest, answered: Answered<AllocationReply>): void {
    this.calls++;
    this.#exchange(from, () => this.#apply(ask), answered);
  }

  /** Reports counts and reads totals, as the global view does. */
  sync(from: number, report: SyncReport, answered: Answered<Promise<SyncReply>>): void {
    this.#exchange(from, () => this.#counts.sync(report), answered);
  }

  #exchange<Reply>(from: number, apply: () => Reply, answered: Answered<Reply>): void {
    const [least, most] = this.#latencyMs;
    const wayMs = (least + (most - least) * this.#random()) / 2;
    const startedAt = this.#timeline.now;
    let isOver = false;
    const end: Answered<Reply> = (reply) => {
      if (!isOver) answered(reply);
      isOver = true;
    };
    const fail = this.#random() < this.#failing;
    this.#timeline.after(wayMs, () => {
      if (this.#isAway(from)) {
        end(undefined);
        return;
      }
      // A failing call may or may not have been applied.
      if (fail && this.#random() < 0.5) {
        end(undefined);
        return;
      }
      const stallMs = Math.max(0, this.#stalledUntil - this.#timeline.now);
      if (stallMs + wayMs > this.#timeoutMs) this.#timeline.after(this.#timeoutMs, () => end(undefined));
      this.#timeline.after(stallMs, () => {
        const reply = apply();
        const isLate = this.#timeline.now - startedAt + wayMs > this.#timeoutMs;
        if (!isLate) this.#timeline.after(wayMs, () => end(fail || this.#isAway(from) ? undefined : reply));
      });
    });
  }

  down(forMs: number, agents?: readonly number[]): void {
    const who = agents && new Set(agents);
    const isAway = (agent: number): boolean => !who || who.has(agent);
    this.#away.add(isAway);
    this.#timeline.after(forMs, () => this.#away.delete(isAway));
  }

  stall(forMs: number): void {
    this.#stalledUntil = this.#timeline.now + forMs;
  }

  fail(forMs: number, part: number): void {
    this.#failing = part;
    this.#timeline.after(forMs, () => {
      this.#failing = 0;
    });
  }

  flush(): void {
    this.#memory = new AllocatorMemory();
    this.#forgetCounts();
  }

  failOver(forMs: number): void {
    this.down(forMs);
    this.#memory = this.#replica;
    this.#replica = new AllocatorMemory();
    this.#forgetCounts();
  }

  get #epochNow(): number {
    return this.#epochMs + this.#timeline.now;
  }

  /**
   * Discards the global view's counts. A replica may start without them, because counts are absolute and agents report
   * them again within a second.
   */
  #forgetCounts(): void {
    this.#counts = memorySyncStore({ memory: new SyncMemory(this.#clock) });
  }

  #isAway(agent: number): boolean {
    for (const isAway of this.#away) if (isAway(agent)) return true;
    return false;
  }

  #apply(ask: StoreRequest): AllocationReply {
    const report = { ...ask, namespace: "simulation" };
    const time = this.#epochNow;
    const replica = this.#replica;
    // A replica that has taken over must no longer apply the delayed requests of its predecessor.
    if (this.#staleMs > 0)
      this.#timeline.after(this.#staleMs, () => {
        if (this.#memory !== replica) replica.allocate(report, time);
      });
    const reply = this.#memory.allocate(report, time);
    const isLearning = reply.quotas.some((quota) => quota.isLearning && quota.error === undefined);
    if (isLearning && !this.#wasLearning) this.learnings++;
    this.#wasLearning = isLearning;
    return reply;
  }
}

/** Throws when called: the in-memory store uses no timers. */
function never(): never {
  throw new Error("the simulated store arms no timers");
}
