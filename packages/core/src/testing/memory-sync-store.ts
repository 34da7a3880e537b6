import type { AllocationReply, AllocationRequest, Allocator } from "../allocator.ts";
import { type Clock, systemClock } from "../clock.ts";
import { SyncClosedError } from "../sync-errors.ts";
import type { SyncCount, SyncName, SyncReply, SyncReport, SyncStore, SyncSum } from "../sync-store.ts";
import { AllocatorMemory } from "./allocator/memory.ts";

interface Left {
  readonly requests: number;
  readonly tokens: number;
  readonly sequence: number;
}

/** The counts of one name in one window, by agent and incarnation. */
interface Page {
  readonly window: number;
  readonly endsAtMs: number;
  readonly left: Map<string, Left>;
}

/** The memory that the stores of several instances in one process share, in place of a Redis server. */
export class SyncMemory {
  readonly clock: Clock;
  readonly pages = new Map<string, Page>();
  /** The allocator's state. A test replaces it to simulate a server that has lost its memory. */
  allocator = new AllocatorMemory();
  #sweptAtMs = 0;

  constructor(clock: Clock = systemClock) {
    this.clock = clock;
  }

  /** Forgets past windows. */
  sweep(epochMs: number, windowMs: number): void {
    if (Math.abs(epochMs - this.#sweptAtMs) < windowMs) return;
    this.#sweptAtMs = epochMs;
    for (const [name, { endsAtMs }] of this.pages) if (endsAtMs <= epochMs) this.pages.delete(name);
  }
}

/** Options of `memorySyncStore`. */
export interface MemorySyncStoreOptions {
  /**
   * Memory to share with other stores.
   *
   * @defaultValue a memory of its own
   */
  memory?: SyncMemory | undefined;
}

/** Creates a store in memory: the reference for all other stores, for tests and for instances in one process. */
export function memorySyncStore(options: MemorySyncStoreOptions = {}): SyncStore & Allocator {
  return new MemorySyncStore(options.memory ?? new SyncMemory());
}

class MemorySyncStore implements SyncStore, Allocator {
  readonly name = "memory";
  readonly #memory: SyncMemory;
  #closed = false;

  constructor(memory: SyncMemory) {
    this.#memory = memory;
  }

  async sync(report: SyncReport): Promise<SyncReply> {
    if (this.#closed) throw new SyncClosedError(this.name);
    const { namespace, agentId, incarnation, windowMs, counts, watched } = report;
    const epochMs = this.#memory.clock.epochMs();
    const window = Math.floor(epochMs / windowMs);
    const who = JSON.stringify([agentId, incarnation]);
    this.#memory.sweep(epochMs, windowMs);
    const { pages } = this.#memory;
    const nameOf = ({ kind, id, model }: SyncName) => JSON.stringify([namespace, kind, id, model ?? "default"]);
    const read = (of: SyncName): Page | undefined => {
      const page = pages.get(nameOf(of));
      return page?.window === window ? page : undefined;
    };
    const leave = ({ of, requests, tokens }: SyncCount): void => {
      const page = read(of) ?? { window, endsAtMs: (window + 1) * windowMs, left: new Map() };
      pages.set(nameOf(of), page);
      const { sequence } = report;
      if (sequence > (page.left.get(who)?.sequence ?? -Infinity)) page.left.set(who, { requests, tokens, sequence });
    };
    if (report.window === window) for (const count of counts) leave(count);
    const names = [...counts.map(({ of }) => of), ...watched];
    return { epochMs, window, sums: names.map((name) => sum(read(name), who)) };
  }

  async allocate(request: AllocationRequest): Promise<AllocationReply> {
    if (this.#closed) throw new SyncClosedError(this.name);
    return this.#memory.allocator.allocate(request, this.#memory.clock.epochMs());
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function sum(page: Page | undefined, who: string): SyncSum {
  let [requests, tokens] = [0, 0];
  for (const one of page?.left.values() ?? []) {
    requests += one.requests;
    tokens += one.tokens;
  }
  const mine = page?.left.get(who);
  const own = mine && { requests: mine.requests, tokens: mine.tokens };
  return { requests, tokens, agents: page?.left.size ?? 0, own, error: undefined };
}
