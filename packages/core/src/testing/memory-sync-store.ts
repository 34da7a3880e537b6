import { type Clock, systemClock } from "../clock.ts";
import type { ShareReply, ShareReport, ShareStore } from "../share-store.ts";
import { SyncClosedError } from "../sync-errors.ts";
import type { SyncCount, SyncName, SyncReply, SyncReport, SyncStore, SyncSum } from "../sync-store.ts";
import { ShareMemory } from "./share-memory.ts";

interface Left {
  readonly requests: number;
  readonly tokens: number;
  readonly sequence: number;
}

/** What was left of one thing in one window, by agent and incarnation. */
interface Page {
  readonly window: number;
  readonly endsAtMs: number;
  readonly left: Map<string, Left>;
}

/** What the stores of several instances in one process have in common, as those of several machines have a Redis. */
export class SyncMemory {
  readonly clock: Clock;
  readonly pages = new Map<string, Page>();
  /** Emptied or replaced, it is a server that has lost its memory. */
  shares = new ShareMemory();
  #sweptAtMs = 0;

  constructor(clock: Clock = systemClock) {
    this.clock = clock;
  }

  /** Forgets windows that are over. */
  sweep(epochMs: number, windowMs: number): void {
    if (Math.abs(epochMs - this.#sweptAtMs) < windowMs) return;
    this.#sweptAtMs = epochMs;
    for (const [name, { endsAtMs }] of this.pages) if (endsAtMs <= epochMs) this.pages.delete(name);
  }
}

/** Options of a store in memory. */
export interface MemorySyncStoreOptions {
  /** Shared with other stores. Default: one of its own. */
  memory?: SyncMemory | undefined;
}

/** A store in memory: the reference for all others, for tests and for what runs in one process. */
export function memorySyncStore(options: MemorySyncStoreOptions = {}): SyncStore & ShareStore {
  return new MemorySyncStore(options.memory ?? new SyncMemory());
}

class MemorySyncStore implements SyncStore, ShareStore {
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

  async share(report: ShareReport): Promise<ShareReply> {
    if (this.#closed) throw new SyncClosedError(this.name);
    return this.#memory.shares.share(report, this.#memory.clock.epochMs());
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
