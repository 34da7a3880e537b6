import type { Lease } from "./gate.ts";
import type { LimitedBy } from "./rate/rate-types.ts";

/** What kind of object says it. */
export type EventSource =
  | "memory-limiter"
  | "rate-manager"
  | "distributed-limiter"
  | "hive"
  | "global-view"
  | "observer";

/** Who says it. */
export interface EventOrigin {
  readonly source: EventSource;
  /** Of those that are one of several. */
  readonly agentId?: string | undefined;
}

/** Which limit stood against a request. A limiter has only one for each resource: "capacity". */
export type DecidingLimit = LimitedBy | "capacity";

/** What a request was for. */
export interface OfResource extends EventOrigin {
  /** The name of a resource or the id of an endpoint. */
  readonly resource: string;
  /** Where models have limits of their own: the one that names these limits. */
  readonly model?: string | undefined;
}

/** A request may be sent. */
export interface GrantedEvent extends OfResource {
  /** Tokens; of a hive or a manager, those of the estimate. */
  readonly cost: number;
  /** Only in a hive that observes: what would have become of it, and by which limit. */
  readonly wouldHave?: "waited" | "been-denied" | undefined;
  readonly limitedBy?: DecidingLimit | undefined;
}

/** Why a request was refused at once. */
export type DeniedReason =
  | "no-tokens"
  | "others-wait"
  | "in-flight"
  | "unknown"
  | "closed"
  | "timeout"
  | "queue-full"
  | "too-large";

/** A request was refused at once: it did not want to wait, or could not. */
export interface DeniedEvent extends OfResource {
  readonly cost: number;
  readonly reason: DeniedReason;
  /** Undefined when there was none: nobody knows the resource, or the limiter is closed. */
  readonly limitedBy: DecidingLimit | undefined;
}

/** A wait begins. Published where the caller is, in its asynchronous context. */
export interface WaitingEvent extends OfResource {
  readonly cost: number;
  readonly limitedBy: DecidingLimit | undefined;
  /** Tells waits apart: the same object that ends with `waited`. Opaque. */
  readonly wait: object;
}

/** A wait came to its end. One that was granted has its `granted` besides. */
export interface WaitedEvent extends OfResource {
  readonly cost: number;
  readonly limitedBy: DecidingLimit | undefined;
  readonly wait: object;
  readonly waitedMs: number;
  readonly outcome: "granted" | "aborted" | "timeout" | "too-large" | "removed" | "closed";
  /** What a hive has granted. */
  readonly lease?: Lease | undefined;
}

/** A lease has ended. */
export interface EndedEvent extends OfResource {
  readonly how: "done" | "cancelled" | "refused" | "expired";
  readonly heldMs: number;
  /** What it took in the end; 0 when all was given back. */
  readonly tokens: number;
}

/** Somebody said that a provider allows less than we thought. */
export interface AnnouncedEvent extends OfResource {
  readonly reason: string;
  readonly sentAgoMs?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly kind?: "limit" | "overload" | undefined;
}

/** What all agents may use of a resource has become another. */
export interface LevelEvent extends OfResource {
  /**
   * - `cut`: a provider refused
   * - `pause`: it did so again, or is in trouble: all wait for a while, and the level stays
   * - `recovery`: a step back up
   * - `restored`: the provider's own numbers showed that the limit is whole
   * - `limit`: the smallest limit that any agent has is another
   */
  readonly cause: "cut" | "pause" | "recovery" | "restored" | "limit";
  /** What is left of the limit, 0 to 1; now and before. */
  readonly level: number;
  readonly before: number;
  /** The limit × the level. */
  readonly total: number;
  readonly pausedForMs: number;
  /** Which agent caused it, and what it said. */
  readonly by: string;
  readonly reason: string;
}

/** Another agent came, or is not heard any more. */
export interface MemberEvent extends EventOrigin {
  readonly member: string;
  /** `silent`: it said no goodbye. */
  readonly change: "joined" | "left" | "silent";
  /** Live agents now, this one included. */
  readonly members: number;
}

/** An announcement tells of a 429; a presence message of who is there and what each uses. */
export type MessageKind = "announcement" | "presence";

/** A message went to the bus, or the bus did not take it. */
export interface PublishedEvent extends EventOrigin {
  readonly message: MessageKind;
  readonly bytes: number;
  /** Undefined when the bus has it. */
  readonly error: unknown;
}

/** A message came, from whomever, this agent included. */
export interface ReceivedEvent extends EventOrigin {
  readonly message: MessageKind;
  readonly bytes: number;
}

/** A message, or a part of one, changed nothing. The reasons are ours and few. */
export interface IgnoredEvent extends EventOrigin {
  readonly message: MessageKind;
  readonly reason: string;
}

/** A bus is in another state. */
export interface BusEvent {
  /** Its name: "nats", "kafka". */
  readonly bus: string;
  readonly state: "connecting" | "ready" | "interrupted" | "closed";
  readonly before: BusEvent["state"];
}

/** A call of the store is over. */
export interface SyncedEvent extends EventOrigin {
  /** `sync`: counts went there and sums came back; `share`: it was asked for this agent's part of the limits. */
  readonly operation: "sync" | "share";
  readonly durationMs: number;
  /** How many counts, or limits, it was about. */
  readonly sent: number;
  /** How long ago the last call went well: 0 when this one did; Infinity when none has. */
  readonly ageMs: number;
  /** Undefined when it went well. */
  readonly error: unknown;
}

/** A request to a provider is about to be sent, with a lease. Published where the caller is. */
export interface SendingEvent {
  /** The endpoint of its lease. */
  readonly resource: string;
  /** As the request names it. */
  readonly model: string | undefined;
  readonly provider: string;
  /** 0 at first; then how often it was sent before. */
  readonly retries: number;
  readonly lease: Lease;
  /** Tells calls apart: the same object that ends with `sent`. Opaque. */
  readonly call: object;
  /** Sends it within a context: `around` must call `send` once, at once, and return what that returns. */
  within(around: <T>(send: () => T) => T): void;
}

/** It was answered, refused or lost. A stream may still be on its way. */
export interface SentEvent {
  readonly resource: string;
  readonly model: string | undefined;
  readonly provider: string;
  readonly retries: number;
  readonly lease: Lease;
  readonly call: object;
  readonly durationMs: number;
  /** `failed`: no answer came. */
  readonly outcome: "answered" | "refused" | "failed";
  /** Why the provider refused: "rate_limited", "overloaded", … */
  readonly refusal: string | undefined;
  readonly error: unknown;
}

/** Which event comes on which channel. */
export interface DiagnosticEvents {
  readonly "hivepace:granted": GrantedEvent;
  readonly "hivepace:denied": DeniedEvent;
  readonly "hivepace:waiting": WaitingEvent;
  readonly "hivepace:waited": WaitedEvent;
  readonly "hivepace:ended": EndedEvent;
  readonly "hivepace:announced": AnnouncedEvent;
  readonly "hivepace:level": LevelEvent;
  readonly "hivepace:member": MemberEvent;
  readonly "hivepace:published": PublishedEvent;
  readonly "hivepace:received": ReceivedEvent;
  readonly "hivepace:ignored": IgnoredEvent;
  readonly "hivepace:bus": BusEvent;
  readonly "hivepace:synced": SyncedEvent;
  readonly "hivepace:sending": SendingEvent;
  readonly "hivepace:sent": SentEvent;
}
