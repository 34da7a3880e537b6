import type { AllocationReply } from "@hivepace/core";
import type { Amounts } from "./amounts.ts";
import type { Answer } from "./availability/answers.ts";
import type { ParkCommand } from "./availability/commands.ts";
import type { DatedUsage } from "./dated-usage.ts";
import type { Dimensions } from "./dimensions.ts";
import type { Level, Refused } from "./level.ts";
import type { Message } from "./message.ts";
import type { QuotaConfig } from "./quota.ts";
import type { StoreRequest } from "./store-request.ts";

/** The cost of a request in one quota. */
export interface Part {
  readonly quota: string;
  readonly cost: Amounts;
}

/** Every event that can happen to an agent. */
export type Event =
  /**
   * Requests permission to send a call now; the effect `taken` is the answer. A request that several quotas limit takes
   * from all of them or from none: a denial spends no claim and no virtual time in any quota.
   */
  | {
      readonly type: "take";
      readonly quota: string;
      readonly cost: Amounts;
      readonly also?: readonly Part[] | undefined;
    }
  /**
   * Sets the waiting demand: the next call and the sum of all waiting calls. No call waits when `next` is undefined.
   */
  | {
      readonly type: "want";
      readonly quota: string;
      readonly next: Amounts | undefined;
      readonly all?: Amounts;
      /** No caller waits: the demand is that of a denied `tryAcquire`. */
      readonly tried?: boolean | undefined;
    }
  /** Corrects the usage of a call that was sent at `sentAt` by `more`, which is negative for a refund. */
  | {
      readonly type: "settle";
      readonly quota: string;
      readonly more: Amounts;
      readonly sentAt: number;
      /** Dimensions of `more`; needed where the quota may have changed since the call was sent. */
      readonly dimensions?: Dimensions | undefined;
    }
  /** The provider refused a request. */
  | { readonly type: "refused"; readonly quota: string; readonly refused: Refused }
  /** A call has ended. Its outcome is evidence of the availability of its endpoint. */
  | { readonly type: "answer"; readonly answer: Answer }
  /** A call was granted at a half-open endpoint and becomes its probe. */
  | { readonly type: "probe"; readonly endpoint: string; readonly model: string | undefined }
  /** A program or an operator closes an endpoint or a model. */
  | { readonly type: "park"; readonly command: ParkCommand & { readonly forMs: number | undefined } }
  /** A program or an operator opens a closed endpoint or model. */
  | { readonly type: "unpark"; readonly command: ParkCommand }
  /** A message of an agent arrived, possibly an echo of this agent's own. */
  | { readonly type: "receive"; readonly message: Message }
  /**
   * A message was too old. If it is not a recording, the clock of its sender is behind, and a message of this agent
   * corrects that clock.
   */
  | { readonly type: "outdated" }
  /** An announcement of a cut arrived, with ages instead of times. */
  | { readonly type: "announced"; readonly quota: string; readonly level: Level }
  /**
   * A provider's answer shows `amounts` of usage that no agent has reported on this quota. `within` names a quota that counts
   * the same calls among others, so that its usage tells the probable ages.
   */
  | {
      readonly type: "external-usage";
      readonly quota: string;
      readonly amounts: Amounts;
      readonly within?: string | undefined;
    }
  /** Own usage from before the quota existed. */
  | { readonly type: "earlier-usage"; readonly quota: string; readonly usage: readonly DatedUsage[] }
  /** Restarts the lease of a call that holds a slot. */
  | { readonly type: "renewed"; readonly quota: string }
  /** A provider's answer shows that the full limit is available again. */
  | { readonly type: "recovered"; readonly quota: string }
  /** Adds or changes a quota. */
  | { readonly type: "configure"; readonly config: QuotaConfig }
  /** Removes a quota. Its usage is reported until it has left the window. */
  | { readonly type: "remove"; readonly quota: string }
  /** The subscription on the bus is active: the join phase starts. */
  | { readonly type: "start" }
  /** The store replied to the request with this sequence number. */
  | { readonly type: "store-reply"; readonly seq: number; readonly reply: AllocationReply }
  /** The request of the store with this sequence number failed. */
  | { readonly type: "store-failure"; readonly seq: number }
  /** The `wakeAt` of an earlier effect has been reached. */
  | { readonly type: "wake" }
  /** The agent leaves. The effects carry its last message and its last request to the store. */
  | { readonly type: "leave" };

/** The actions that the caller of `step` must perform. */
export interface Effects {
  /** The request of a `take` event may be sent, and is already counted. */
  readonly taken: boolean;
  /** Message to publish. */
  readonly publish: Message | undefined;
  /** Request to the store; its reply or failure becomes an event. */
  readonly ask: StoreRequest | undefined;
  /** Quotas in which the next waiting call should try again now. */
  readonly retry: readonly string[];
  /** Latest time of the next `wake` event. */
  readonly wakeAt: number;
}
