import type { DecidingLimit, EventOrigin } from "./diagnostic-events.ts";
import { type BucketLimit, TokenBucket } from "./token-bucket.ts";
import type { Served, WaitingRoom } from "./waiting-room.ts";

/** The origin of every event about these resources. */
export const ORIGIN: EventOrigin = { source: "memory-limiter" };

/**
 * A limited resource: its bucket, its requests in flight and its waiters. The class extends the bucket instead of
 * holding one, because a program may have a million resources.
 */
export class Resource extends TokenBucket implements Served {
  inFlight = 0;
  /** Exists only while a call waits. */
  room: WaitingRoom | undefined = undefined;
  /**
   * Whether the resource was created by its first use instead of `setCapacity`; only such a resource may be forgotten.
   */
  onDemand: boolean;

  constructor(limit: BucketLimit, now: number, onDemand: boolean) {
    super(limit, now);
    this.onDemand = onDemand;
  }

  get origin(): EventOrigin {
    return ORIGIN;
  }

  limitedBy(): DecidingLimit {
    return "capacity";
  }

  override waitMs(cost: number, now: number, ahead = 0): number {
    return super.waitMs(ahead + cost, now);
  }

  /** Whether a newly created resource in its place would be indistinguishable. */
  isIdle(now: number): boolean {
    return this.inFlight === 0 && this.room === undefined && this.isFull(now);
  }

  endOne(): boolean {
    if (this.inFlight === 0) return false;
    this.inFlight--;
    return true;
  }

  lineChanged(next: number | undefined, _all: number, now: number): number {
    return next === undefined ? Infinity : this.readyAt(next, now);
  }
}
