import { onAbort } from "./abort-listeners.ts";
import type { Clock } from "./clock.ts";
import { denied, waiting } from "./diagnostics.ts";
import { CapacityExhaustedError } from "./errors.ts";
import type { AcquireOptions } from "./rate-limiter.ts";
import { type Served, tooLarge, WaitingRoom } from "./waiting-room.ts";

/**
 * Waits in line for what could not be had at once. The promise ends once: granted, refused, given up or sent away. Throws
 * when the wait cannot even begin.
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

/** Why a request cannot even begin to wait. */
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
    return new CapacityExhaustedError(resource, "queue-full", `${inLine} wait already`, retryAfterMs);
  if (timeoutMs === 0) return new CapacityExhaustedError(resource, "timeout", "it would have to wait", retryAfterMs);
  return undefined;
}
