import type { DecidingLimit, EventOrigin } from "./diagnostic-events.ts";
import { type BucketLimit, TokenBucket } from "./token-bucket.ts";
import type { Served, WaitingRoom } from "./waiting-room.ts";

/** Who says what is said of it. */
export const ORIGIN: EventOrigin = { source: "memory-limiter" };

/**
 * A limited resource: its bucket, what is in flight and who waits. It is a bucket rather than has one because a
 * program may hold a million of these.
 */
export class Resource extends TokenBucket implements Served {
  inFlight = 0;
  /** There only while somebody waits. */
  room: WaitingRoom | undefined = undefined;
  /** Nobody set it: it was made when it was first asked for, and may be forgotten. */
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

  /** Whether a new one in its place would be the same. */
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
