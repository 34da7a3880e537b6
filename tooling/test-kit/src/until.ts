import { setTimeout as pause } from "node:timers/promises";

/** Longer than anything takes that a test waits for; whoever waits is done as soon as it happens. */
const PATIENCE_MS = 30_000;

/** Waits until the condition holds; fails when it does not for too long. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${PATIENCE_MS} ms in vain: ${what}`);
    await pause(5);
  }
}
