import type { SwarmObserver, SwarmSnapshot } from "@hivepace/distributed";
import { pause } from "../abortable.ts";

/** Listening times in milliseconds: busy agents publish every second, idle ones every five seconds. */
const QUICK_MS = 1_300;
export const LONG_MS = 6_000;
/** Swarms with more agents than this publish less often per agent. */
const CROWD = 200;
/** Milliseconds between checks whether listening is complete. */
const LOOK_MS = 50;

export interface Listening {
  /**
   * A fixed listening time in milliseconds. By default listening ends once every agent known to any other has sent a
   * message, or after six seconds, or later in a large swarm.
   */
  readonly listenMs?: number | undefined;
  readonly signal: AbortSignal;
}

/** Returns the state of the swarm after listening. Rejects with the signal's reason. */
export async function listen(observer: SwarmObserver, { listenMs, signal }: Listening): Promise<SwarmSnapshot> {
  for (;;) {
    const snapshot = observer.snapshot();
    const leftMs = listenMs === undefined ? restMs(snapshot) : listenMs - snapshot.observedMs;
    if (leftMs <= 0) return snapshot;
    if (await pause(Math.min(LOOK_MS, leftMs), signal)) throw signal.reason;
  }
}

/** Returns the remaining useful listening time in milliseconds. */
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
