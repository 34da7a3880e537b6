import type { Clock, ShareReply, SyncReply, SyncReport } from "@hivepace/core";
import { memorySyncStore, ShareMemory, SyncMemory } from "@hivepace/core/testing";
import type { Ask } from "../engine/ask.ts";
import type { StoreOptions } from "./options.ts";
import type { Timeline } from "./timeline.ts";

type Answered<Reply> = (reply: Reply | undefined) => void;

/** The store that tests have, in the simulated world: slow, away, forgetful, or replaced by one that is out of date. */
export class SimulatedStore {
  readonly #timeline: Timeline;
  readonly #random: () => number;
  readonly #latencyMs: readonly [number, number];
  readonly #timeoutMs: number;
  /** How far behind the one is that takes over; 0 when none does. */
  readonly #staleMs: number;
  #memory = new ShareMemory();
  #replica = new ShareMemory();
  readonly #away = new Set<(agent: number) => boolean>();
  #stalledUntil = 0;
  #failing = 0;
  /** Its clock is not that of any agent. */
  readonly #epochMs = 1_900_000_000_000;
  #wasLearning = false;
  readonly #clock: Clock = { now: () => this.#timeline.now, epochMs: () => this.#epochNow, after: never };
  #counts = memorySyncStore({ memory: new SyncMemory(this.#clock) });
  /** Calls that ask for a part of the limit. */
  calls = 0;
  learnings = 0;

  constructor(options: StoreOptions, timeline: Timeline, random: () => number, staleMs: number) {
    this.#latencyMs = options.latencyMs ?? [2, 10];
    this.#timeoutMs = options.timeoutMs ?? 2_000;
    this.#timeline = timeline;
    this.#random = random;
    this.#staleMs = staleMs;
  }

  share(from: number, ask: Ask, answered: Answered<ShareReply>): void {
    this.calls++;
    this.#exchange(from, () => this.#apply(ask), answered);
  }

  /** Leaves counts and reads sums, as the global view does. */
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
      // A call that fails may have been counted, or not.
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
    this.#memory = new ShareMemory();
    this.#forgetCounts();
  }

  failOver(forMs: number): void {
    this.down(forMs);
    this.#memory = this.#replica;
    this.#replica = new ShareMemory();
    this.#forgetCounts();
  }

  get #epochNow(): number {
    return this.#epochMs + this.#timeline.now;
  }

  /** Counts are absolute: agents report them again within a second, so that a replica starts without any. */
  #forgetCounts(): void {
    this.#counts = memorySyncStore({ memory: new SyncMemory(this.#clock) });
  }

  #isAway(agent: number): boolean {
    for (const isAway of this.#away) if (isAway(agent)) return true;
    return false;
  }

  #apply(ask: Ask): ShareReply {
    const report = { ...ask, namespace: "simulation" };
    const time = this.#epochNow;
    const replica = this.#replica;
    // What it hears so much later it must never hear once it has taken over.
    if (this.#staleMs > 0)
      this.#timeline.after(this.#staleMs, () => {
        if (this.#memory !== replica) replica.share(report, time);
      });
    const reply = this.#memory.share(report, time);
    const isLearning = reply.pools.some((pool) => pool.isLearning && pool.error === undefined);
    if (isLearning && !this.#wasLearning) this.learnings++;
    this.#wasLearning = isLearning;
    return reply;
  }
}

/** The store in memory has no timers. */
function never(): never {
  throw new Error("the simulated store arms no timers");
}
