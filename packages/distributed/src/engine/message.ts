import type { Amounts } from "./amounts.ts";
import type { Dimensions } from "./dimensions.ts";
import type { Level } from "./level.ts";

/** The longest interval until its next message that an agent may announce. */
export const LONGEST_NEXT_MS = 3_600_000;

/** What an agent tells all others: its whole state, so that any message replaces all that were before it. */
export interface Message {
  readonly id: string;
  /** Which life of this agent: later lives have higher numbers. */
  readonly life: number;
  /** Counts the messages of this life. */
  readonly seq: number;
  /** How long it has been there. */
  readonly upMs: number;
  /** It will be heard again after at most this. */
  readonly nextMs: number;
  readonly weight: number;
  /** How many agents it knows of, itself included. */
  readonly members: number;
  /** It leaves; this was its last message. */
  readonly bye: boolean;
  /** It is in store mode: only who is cut off from the store has to mind. */
  readonly store?: boolean | undefined;
  /** Those pools of which there is something to say. */
  readonly pools: readonly PoolReport[];
}

export interface PoolReport {
  readonly name: string;
  readonly windowMs: number;
  /** What the limits count; absent for the usual dimensions, see `usualDimensions`. */
  readonly dimensions?: Dimensions | undefined;
  /** As configured there. */
  readonly limits: Amounts;
  /** All that it has used in this life, and all of it that turned out not to be used, which was sent so long ago. */
  readonly sent: Amounts;
  readonly back: Amounts;
  readonly backAgeMs: number;
  /** What it used in the last window, in all and in bins, see `UseWindow`. */
  readonly used: Amounts;
  readonly bins: readonly Amounts[];
  /** The demand there in all: what waits or, when `tried`, what was asked for without waiting and denied. */
  readonly waiting: Amounts;
  readonly tried?: boolean | undefined;
  readonly claim: ClaimReport | undefined;
  /** How far the line has come, see `turn.ts`. */
  readonly turn: number;
  /** With ages in the place of times. Undefined while it is whole. */
  readonly level: Level | undefined;
  /** For newcomers: what it knows that all have used, in bins. */
  readonly seen: readonly Amounts[] | undefined;
}

export interface ClaimReport {
  readonly amounts: Amounts;
  /** The call that waits first. */
  readonly next: Amounts;
  readonly turn: number;
  readonly tie: number;
  /** For how long something has been waiting there. */
  readonly waitedMs: number;
}
