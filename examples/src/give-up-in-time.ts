/** Typed errors for calls that get no capacity, with the time after which to try again. */
import { isHivepaceError, MemoryLimiter } from "@hivepace/core";

const limiter = new MemoryLimiter({ maxQueue: 1 });
limiter.setCapacity("reports", 1, 60_000);
await limiter.acquire("reports");

const attempts = [
  limiter.acquire("reports", { timeoutMs: 50 }),
  limiter.acquire("reports"),
  limiter.acquire("reports", { cost: 2 }),
  limiter.acquire("raports"),
];
for (const { reason } of (await Promise.allSettled(attempts)) as PromiseRejectedResult[]) {
  if (isHivepaceError(reason, "CAPACITY_EXHAUSTED")) {
    const seconds = reason.retryAfterMs === undefined ? "never" : `in ${Math.ceil(reason.retryAfterMs / 60_000)} min`;
    console.log(`${reason.reason}: try again ${seconds}`);
  } else if (isHivepaceError(reason)) {
    console.log(`${reason.code}: ${reason.message}`);
  }
}
await limiter.close();

/* Output:
timeout: try again in 1 min
queue-full: try again in 2 min
too-large: try again never
RESOURCE_UNKNOWN: unknown resource "raports": set its capacity first
*/
