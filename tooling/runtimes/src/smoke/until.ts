import { setTimeout as pause } from "node:timers/promises";

/** Time limit that only ends a hopeless wait; no step takes nearly as long. */
const PATIENCE_MS = 60_000;

/** Resolves as soon as the condition holds. `what` names the condition in the error after a minute. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not reached within ${PATIENCE_MS} ms: ${what}`);
    await pause(5);
  }
}
