import type { SwarmObserver, SwarmSnapshot } from "@hivepace/distributed";
import { pause } from "../abortable.ts";

/** Agents that have something to do are heard every second, idle ones every five. */
const QUICK_MS = 1_300;
export const LONG_MS = 6_000;
/** With more agents than this each is heard less often. */
const CROWD = 200;
const LOOK_MS = 50;

export interface Listening {
  /** So long, whoever is heard. Default: until all are heard of whom the others know; six seconds and more if that takes longer. */
  readonly listenMs?: number | undefined;
  readonly signal: AbortSignal;
}

/** The swarm as it is after having listened. Rejects with the signal's reason. */
export async function listen(observer: SwarmObserver, { listenMs, signal }: Listening): Promise<SwarmSnapshot> {
  for (;;) {
    const snapshot = observer.snapshot();
    const leftMs = listenMs === undefined ? restMs(snapshot) : listenMs - snapshot.observedMs;
    if (leftMs <= 0) return snapshot;
    if (await pause(Math.min(LOOK_MS, leftMs), signal)) throw signal.reason;
  }
}

/** How long it makes sense to go on listening. */
export function restMs({
  observedMs,
  members,
  agents,
}: Pick<SwarmSnapshot, "observedMs" | "members" | "agents">): number {
  const heard = agents.filter(({ state }) => state === "live").length;
  const isAll = heard > 0 && heard >= members;
  const needMs = isAll ? QUICK_MS : Math.max(LONG_MS, (1_100 * members) / CROWD);
  return needMs - observedMs;
}
