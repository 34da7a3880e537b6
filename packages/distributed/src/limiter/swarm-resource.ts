import type { Served } from "@hivepace/core/internal";
import type { Pool } from "../engine/pool.ts";

/** A resource of a distributed limiter, whether it is shared or not. */
export interface SwarmResource extends Served {
  readonly name: string;
  /** Another one once its window has another length. */
  pool: Pool;
  /** What was asked for with `burst`. */
  burstOption: number | undefined;
  /** Denied without waiting: it wants it all the same. */
  denied(cost: number, now: number): void;
  /** Returns what was taken for a request that was not sent, where that is possible. */
  giveBack(cost: number, now: number): void;
  /** Whole tokens that can be taken now. */
  available(now: number): number;
  /** This agent's part of what all may use, in a window. */
  share(now: number): number;
  /** The limit or the level is another. */
  changed(now: number): void;
  /** Nobody uses it any more. */
  close(): void;
}
