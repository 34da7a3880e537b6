import { type Clock, systemClock } from "@hivepace/core";

type Close = () => Promise<void>;

const open = new Set<Close>();

function closeAll(): void {
  const all = [...open];
  open.clear();
  for (const close of all) close().catch(() => {});
}

/**
 * Calls `close` when the process ends by itself, that is when it has nothing left to do. Peers then learn at once that
 * the agent left. Does nothing on another clock than that of the system, which knows no process. Returns a function that
 * revokes this.
 */
export function closeAtExit(close: Close, clock: Clock): () => void {
  if (clock !== systemClock) return () => {};
  if (open.size === 0) process.once("beforeExit", closeAll);
  open.add(close);
  return () => {
    if (open.delete(close) && open.size === 0) process.off("beforeExit", closeAll);
  };
}
