import { setTimeout as pause } from "node:timers/promises";

/** Ends a hopeless wait. A condition that becomes true ends the wait at once, so a busy machine may take minutes. */
const PATIENCE_MS = 300_000;

/** Waits until the condition holds; rejects after the time limit. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not reached within ${PATIENCE_MS} ms: ${what}`);
    await pause(5);
  }
}
