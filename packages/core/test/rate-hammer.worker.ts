import { parentPort, workerData } from "node:worker_threads";
import { RateManager } from "../src/rate/rate-manager.ts";
import type { SharedHandle } from "../src/rate/rate-types.ts";

/**
 * The task of a thread: request the same id as fast as possible until the windows have passed and, on a machine too
 * busy to fill them, until `refusals` windows have refused it.
 */
export interface HammerOrder {
  readonly shared: SharedHandle;
  readonly start: SharedArrayBuffer;
  readonly threads: number;
  readonly windows: number;
  readonly refusals: number;
  readonly tokens: number;
}

/** The number of grants in each window, and the windows with refusals. */
export interface HammerReport {
  readonly granted: Map<number, number>;
  readonly refused: Set<number>;
}

const { shared, start, threads, windows, refusals, tokens } = workerData as HammerOrder;
const manager = new RateManager({ shared });
const ready = new Int32Array(start);
Atomics.add(ready, 0, 1);
while (Atomics.load(ready, 0) < threads);

const handle = manager.handle({ endpoint: "one", key: "everyone" });
const granted = new Map<number, number>();
const refused = new Set<number>();
const opening = handle.check(0);
const first = opening.windowStart;
// This request may be refused like any other, because other threads may already be filling the window.
granted.set(first, opening.allowed ? 1 : 0);
const { windowMs } = manager.snapshot();
let windowStart = first;
while (windowStart < first + windows * windowMs || refused.size < refusals) {
  const decision = handle.check(tokens);
  windowStart = decision.windowStart;
  if (decision.allowed) granted.set(windowStart, (granted.get(windowStart) ?? 0) + 1);
  else refused.add(windowStart);
}
parentPort?.postMessage({ granted, refused } satisfies HammerReport);
