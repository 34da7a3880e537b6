import {
  type Clock,
  RateManager,
  type SyncReply,
  type SyncReport,
  type SyncStore,
  SyncUnavailableError,
} from "@hivepace/core";
import { ManualClock, memorySyncStore, SyncMemory } from "@hivepace/core/testing";
import { startGlobalView } from "../../src/index.ts";

export const MINUTE = 60_000;

/** A clock with the same monotonic time and a wall clock that is off by `ms`. */
function skewed(clock: Clock, ms: number): Clock {
  return {
    now: () => clock.now(),
    epochMs: () => clock.epochMs() + ms,
    after: (delay, callback, options) => clock.after(delay, callback, options),
  };
}

/** A store that runs the test's hook for every report before it answers. */
class HookedStore implements SyncStore {
  readonly name = "hooked";
  readonly reports: SyncReport[] = [];
  readonly #store: SyncStore;
  hook: (report: SyncReport, pass: () => Promise<SyncReply>) => Promise<SyncReply> = (_, pass) => pass();

  constructor(store: SyncStore) {
    this.#store = store;
  }

  sync(report: SyncReport): Promise<SyncReply> {
    this.reports.push(report);
    return this.hook(report, () => this.#store.sync(report));
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

export const away = async (): Promise<never> => {
  throw new SyncUnavailableError("hooked", "away");
};

/** Creates instances in virtual time around one store in memory. */
export function virtualSwarm(options: { epochMs?: number } = {}) {
  const clock = new ManualClock({ epochMs: options.epochMs ?? Date.UTC(2030, 0, 1) + 10_000 });
  const memory = new SyncMemory(clock);
  const instance = (agentId: string, more: { skewMs?: number; incarnation?: string; intervalMs?: number } = {}) => {
    const { skewMs = 0, incarnation = "1", ...rest } = more;
    const own = skewed(clock, skewMs);
    const manager = new RateManager({ clock: own });
    for (const id of ["eu", "us"]) manager.setEndpoint({ id, rpmLimit: 1_000, tpmLimit: 100_000 });
    const store = new HookedStore(memorySyncStore({ memory }));
    const start = () => startGlobalView({ manager, store, agentId, incarnation, namespace: "n", clock: own, ...rest });
    const use = (times: number, tokens = 10, endpoint = "eu", model?: string) => {
      for (let i = 0; i < times; i++) manager.check({ endpoint, model, tokens });
    };
    return { manager, store, use, start };
  };
  return { clock, memory, instance };
}
