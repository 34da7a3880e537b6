import { setTimeout as sleep } from "node:timers/promises";

export interface UntilOptions {
  readonly deadlineMs: number;
  readonly everyMs?: number;
}

/** Polls until the answer is neither `undefined` nor `false`; resolves with `undefined` after the deadline. */
export async function until<T>(
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  { deadlineMs, everyMs = 20 }: UntilOptions,
): Promise<T | undefined> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() >= end) return undefined;
    await sleep(everyMs);
  }
}
