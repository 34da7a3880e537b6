import type { Served } from "@hivepace/core/internal";
import type { Quota } from "../engine/index.ts";

/** A resource of a distributed limiter, shared or not. */
export interface SwarmResource extends Served {
  readonly name: string;
  /** Replaced when the window changes. */
  quota: Quota;
  /** The quota of the resource's calls under way; undefined when they are not limited. */
  slots: Quota | undefined;
  /** The `burst` option. */
  burstOption: number | undefined;
  /** Registers the demand of a denied `tryAcquire`. */
  denied(cost: number, now: number): void;
  /** Called when a call has ended. */
  ended(now: number): void;
  /** Refunds a request that was not sent, where that is possible. */
  giveBack(cost: number, now: number): void;
  /** The whole tokens that can be taken now. */
  available(now: number): number;
  /** This agent's share of the capacity, per window. */
  share(now: number): number;
  /** Called when the limit or the level has changed. */
  changed(now: number): void;
  /** Called when the resource is removed. */
  close(): void;
}
