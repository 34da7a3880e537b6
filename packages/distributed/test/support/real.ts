import { RateManager, type SyncStore } from "@hivepace/core";
import { until } from "@hivepace/test-kit";
import { type GlobalView, startGlobalView } from "../../src/index.ts";

/** So long that no edge comes into a test: the present one ends in 2033. */
const WINDOW_MS = 1_000_000_000_000;

export interface RealInstance {
  readonly manager: RateManager;
  readonly view: GlobalView;
  /** Asks for so many requests; all must be allowed, whatever the store does. */
  use(times: number): void;
}

/** An instance in real time that is soon stale. */
export function startInstance(store: SyncStore, agentId: string, namespace: string): RealInstance {
  const manager = new RateManager({ windowMs: WINDOW_MS });
  manager.setEndpoint({ id: "eu", model: "claude", rpmLimit: 1_000_000, tpmLimit: 100_000_000 });
  manager.setEndpoint({ id: "us", rpmLimit: 1_000_000 });
  const view = startGlobalView({ manager, store, agentId, namespace, intervalMs: 50, staleAfterMs: 400 });
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

/** What all of them have really counted. */
export function truth(instances: readonly RealInstance[]): { rpm: number; tpm: number } {
  const counts = instances.map(({ manager }) => manager.snapshot().endpoints.find(({ id }) => id === "eu"));
  const sum = (part: "requests" | "tokens") => counts.reduce((total, count) => total + (count?.[part] ?? 0), 0);
  return { rpm: sum("requests"), tpm: sum("tokens") };
}

export const seen = ({ view }: RealInstance) => {
  const { rpm, tpm } = view.get("eu", "claude");
  return { rpm, tpm };
};

/** One sync of each, one after the other. */
export async function oneSyncEach(instances: readonly RealInstance[]): Promise<void> {
  for (const { view } of instances) await view.refresh();
}

/** Waits until each has had a sync that worked, by itself; the second of each follows. */
export async function twoSyncsAfterReturn(instances: readonly RealInstance[]): Promise<void> {
  await until(() => instances.every(({ view }) => view.status().failures === 0), "each has synced again");
  await oneSyncEach(instances);
}
