import { setTimeout as pause } from "node:timers/promises";

/** Ends a wait that is in vain. A condition that comes true ends it at once, so a busy machine may take minutes. */
const PATIENCE_MS = 300_000;

/** Waits until the condition holds; fails when it does not for too long. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${PATIENCE_MS} ms in vain: ${what}`);
    await pause(5);
  }
}
