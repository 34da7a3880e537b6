import { onAbort } from "./abort-listeners.ts";
import type { Clock } from "./clock.ts";
import { denied, waiting } from "./diagnostics.ts";
import { CapacityExhaustedError } from "./errors.ts";
import type { AcquireOptions } from "./rate-limiter.ts";
import { type Served, tooLarge, WaitingRoom } from "./waiting-room.ts";

/**
 * Waits in the queue for tokens that are not available at once. The promise settles once: granted, timed out, aborted,
 * or rejected because the resource is gone. Throws when the wait cannot begin.
 */
export function waitFor(
  resource: string,
  entry: Served,
  clock: Clock,
  maxQueue: number,
  cost: number,
  now: number,
  options: AcquireOptions = {},
): Promise<void> {
  const { signal, timeoutMs = Infinity, priority = 0 } = options;
  const refusal = refusalOf(resource, entry, maxQueue, cost, timeoutMs, now);
  if (refusal) {
    if (denied.hasSubscribers)
      denied.publish({ ...entry.origin, resource, cost, reason: refusal.reason, limitedBy: entry.limitedBy(now) });
    throw refusal;
  }
  entry.room ??= new WaitingRoom(resource, entry, clock);
  const room = entry.room;
  return new Promise((resolve, reject) => {
    const waiter = {
      cost,
      since: now,
      deadline: now + timeoutMs,
      limitedBy: entry.limitedBy(now),
      grant: () => {
        stopListening?.();
        resolve();
      },
      refuse: (reason: unknown) => {
        stopListening?.();
        reject(reason);
      },
    };
    const stopListening = signal && onAbort(signal, () => (room.leave(waiter, signal.reason) ? room : undefined));
    if (waiting.hasSubscribers)
      waiting.publish({ ...entry.origin, resource, cost, limitedBy: waiter.limitedBy, wait: waiter });
    room.join(waiter, priority);
  });
}

/** Returns the error of a request that cannot begin to wait. */
function refusalOf(
  resource: string,
  entry: Served,
  maxQueue: number,
  cost: number,
  timeoutMs: number,
  now: number,
): CapacityExhaustedError | undefined {
  if (cost > entry.burst) return tooLarge(resource, cost, entry.burst);
  const inLine = entry.room?.size ?? 0;
  const retryAfterMs = entry.room?.waitMs(cost, now) ?? entry.waitMs(cost, now);
  if (inLine >= maxQueue)
    return new CapacityExhaustedError(resource, "queue-full", `the queue is full with ${inLine} waiting`, retryAfterMs);
  if (timeoutMs === 0)
    return new CapacityExhaustedError(resource, "timeout", "not available now, and timeoutMs is 0", retryAfterMs);
  return undefined;
}
