import { RateManager, type SyncStore } from "@hivepace/core";
import { until } from "@hivepace/test-kit";
import { type GlobalView, startGlobalView } from "../../src/index.ts";

/** A window long enough that none ends during a test: the present one ends in 2033. */
const WINDOW_MS = 1_000_000_000_000;

export interface RealInstance {
  readonly manager: RateManager;
  readonly view: GlobalView;
  /** Makes this many requests, all of which must be allowed, even without the store. */
  use(times: number): void;
}

/** Starts an instance in real time whose view becomes stale quickly. */
export function startInstance(store: SyncStore, agentId: string, namespace: string): RealInstance {
  const manager = new RateManager({ windowMs: WINDOW_MS });
  manager.setEndpoint({ id: "eu", model: "claude", rpmLimit: 1_000_000, tpmLimit: 100_000_000 });
  manager.setEndpoint({ id: "us", rpmLimit: 1_000_000 });
  const view = startGlobalView({ manager, store, agentId, namespace, intervalMs: 50, staleAfterMs: 1_500 });
  return {
    manager,
    view,
    use(times) {
      for (let i = 0; i < times; i++) {
        const { allowed } = manager.check({ endpoint: "eu", model: "claude", tokens: 10 });
        if (!allowed) throw new Error("a decision must not depend on the store");
      }
    },
  };
}

/** The sum of the counts of all instances, independent of the store. */
export function truth(instances: readonly RealInstance[]): { rpm: number; tpm: number } {
  const counts = instances.map(({ manager }) => manager.snapshot().endpoints.find(({ id }) => id === "eu"));
  const sum = (part: "requests" | "tokens") => counts.reduce((total, count) => total + (count?.[part] ?? 0), 0);
  return { rpm: sum("requests"), tpm: sum("tokens") };
}

export const seen = ({ view }: RealInstance) => {
  const { rpm, tpm } = view.get("eu", "claude");
  return { rpm, tpm };
};

/** Syncs each instance once, one after the other. */
export async function oneSyncEach(instances: readonly RealInstance[]): Promise<void> {
  for (const { view } of instances) await view.refresh();
}

/** Waits until each instance has synced successfully by itself, and then syncs each once more. */
export async function twoSyncsAfterReturn(instances: readonly RealInstance[]): Promise<void> {
  await until(() => instances.every(({ view }) => view.status().failures === 0), "each has synced again");
  await oneSyncEach(instances);
}
