/** The smoke program: runs on every runtime, in a project that has the packed packages installed. */
import { diagnosticEvents } from "./diagnostic-events.ts";
import { limitedFetch } from "./limited-fetch.ts";
import { localLimiter } from "./local-limiter.ts";
import { natsHive, olderNatsHive } from "./nats-hives.ts";
import { redisHive } from "./redis-hive.ts";
import { redisCounters, redisStoreHive } from "./redis-store.ts";
import { requireCopy } from "./require-copy.ts";
import { sharedCounters } from "./shared-counters.ts";
import type { Step } from "./step.ts";

const steps: readonly Step[] = [
  localLimiter,
  requireCopy,
  diagnosticEvents,
  sharedCounters,
  redisHive,
  redisCounters,
  redisStoreHive,
  natsHive,
  olderNatsHive,
  limitedFetch,
];

/** Time limit that only ends a hanging step. */
const STEP_MS = 180_000;

let passed = 0;
for (const step of steps) {
  try {
    console.log(`ok ${step.name}: ${await inTime(step.run())}`);
    passed++;
  } catch (error) {
    console.log(`FAILED ${step.name}: ${(error as Error).stack ?? error}`);
    process.exit(1);
  }
}
// The process must exit by itself: every step has closed its resources.
console.log(`done ${passed} of ${steps.length}`);

function inTime<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the step did not end within ${STEP_MS} ms`)), STEP_MS);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
