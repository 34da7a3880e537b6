import type { ShareReply } from "@hivepace/core";
import type { Amounts } from "./amounts.ts";
import type { Ask } from "./ask.ts";
import type { Dimensions } from "./dimensions.ts";
import type { Level, Refused } from "./level.ts";
import type { Message } from "./message.ts";
import type { PoolConfig } from "./pool.ts";

/** What one request takes from one pool. */
export interface Part {
  readonly pool: string;
  readonly cost: Amounts;
}

/** What can happen to an agent. */
export type Event =
  /**
   * It asks whether it may send a request now; the answer is the effect `taken`. A request that several pools limit takes
   * from all of them or from none: a denial spends no claim and no turn anywhere.
   */
  | {
      readonly type: "take";
      readonly pool: string;
      readonly cost: Amounts;
      readonly also?: readonly Part[] | undefined;
    }
  /**
   * What waits for this pool: the next call and all of it; nothing any more when undefined. `tried`: nobody waits, but it
   * was asked for and denied.
   */
  | {
      readonly type: "want";
      readonly pool: string;
      readonly next: Amounts | undefined;
      readonly all?: Amounts;
      readonly tried?: boolean | undefined;
    }
  /**
   * A call that was sent at `sentAt` used so much more than was taken for it; less, when negative. `dimensions` are those
   * that it was taken of, where the quota may have others by now.
   */
  | {
      readonly type: "settle";
      readonly pool: string;
      readonly more: Amounts;
      readonly sentAt: number;
      readonly dimensions?: Dimensions | undefined;
    }
  /** The provider refused a request. */
  | { readonly type: "refused"; readonly pool: string; readonly refused: Refused }
  | { readonly type: "hear"; readonly message: Message }
  /** A level was announced, with ages in the place of times. */
  | { readonly type: "announced"; readonly pool: string; readonly level: Level }
  /** A provider's answer shows `amounts` of usage that no agent has reported. */
  | { readonly type: "used-elsewhere"; readonly pool: string; readonly amounts: Amounts }
  /** A provider's answer shows that the full limit is available again. */
  | { readonly type: "recovered"; readonly pool: string }
  /** A quota is set or changed. */
  | { readonly type: "configure"; readonly config: PoolConfig }
  /** A quota is no longer used here. Its usage is reported until it has left the window. */
  | { readonly type: "remove"; readonly pool: string }
  /** The bus is subscribed: the agent starts to listen. */
  | { readonly type: "start" }
  /** A message could not be published. */
  | { readonly type: "unpublished"; readonly seq: number }
  /** The store has answered, or it has not. */
  | { readonly type: "answer"; readonly seq: number; readonly reply: ShareReply }
  | { readonly type: "unanswered"; readonly seq: number }
  /** The time that was asked for has come. */
  | { readonly type: "wake" }
  | { readonly type: "leave" };

/** What an agent has to do next. */
export interface Effects {
  readonly taken: boolean;
  readonly publish: Message | undefined;
  /** The store is to be called; the answer is an event. */
  readonly ask: Ask | undefined;
  /** Pools in which the next call should try again. */
  readonly retry: readonly string[];
  /** Call again then, at the latest. */
  readonly wakeAt: number;
}
