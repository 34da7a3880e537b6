import type { Lease } from "./gate.ts";
import type { LimitedBy } from "./rate/rate-types.ts";

/** The kind of object that emits an event. */
export type EventSource =
  | "memory-limiter"
  | "rate-manager"
  | "distributed-limiter"
  | "hive"
  | "global-view"
  | "observer";

/** The object that emits an event. */
export interface EventOrigin {
  readonly source: EventSource;
  /** The agent, for objects that are one of several agents. */
  readonly agentId?: string | undefined;
}

/** The limit that denied or delayed a request. A limiter has only one limit per resource: "capacity". */
export type DecidingLimit = LimitedBy | "capacity";

/** The target of a request. */
export interface OfResource extends EventOrigin {
  /** The name of a resource or the id of an endpoint. */
  readonly resource: string;
  /** The model that names the applied limits, where models have limits of their own. */
  readonly model?: string | undefined;
}

/** A request was granted. */
export interface GrantedEvent extends OfResource {
  /** Cost in tokens; for a hive or a manager, the estimate. */
  readonly cost: number;
  /** The outcome and the limit that would have applied; only in a hive that observes without limiting. */
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
  | "too-large"
  | "unavailable";

/** A request was refused at once, because it did not allow waiting or could not wait. */
export interface DeniedEvent extends OfResource {
  readonly cost: number;
  readonly reason: DeniedReason;
  /** The limit that denied the request; undefined when the resource is unknown or the limiter is closed. */
  readonly limitedBy: DecidingLimit | undefined;
}

/** A wait has begun. Published in the asynchronous context of the caller. */
export interface WaitingEvent extends OfResource {
  readonly cost: number;
  readonly limitedBy: DecidingLimit | undefined;
  /** An opaque object that identifies the wait; the `waited` event carries the same object. */
  readonly wait: object;
}

/** A wait has ended. A granted wait also emits `granted`. */
export interface WaitedEvent extends OfResource {
  readonly cost: number;
  readonly limitedBy: DecidingLimit | undefined;
  readonly wait: object;
  readonly waitedMs: number;
  readonly outcome: "granted" | "aborted" | "timeout" | "too-large" | "unavailable" | "removed" | "closed";
  /** The lease, for a wait that a hive has granted. */
  readonly lease?: Lease | undefined;
}

/** A lease has ended. */
export interface EndedEvent extends OfResource {
  readonly how: "done" | "cancelled" | "refused" | "failed" | "expired";
  readonly heldMs: number;
  /** Final usage in tokens; 0 when the whole reservation was returned. */
  readonly tokens: number;
}

/** A program or an agent announced that the provider allows less than assumed. */
export interface AnnouncedEvent extends OfResource {
  readonly reason: string;
  readonly sentAgoMs?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly kind?: "limit" | "overload" | "quota" | undefined;
}

/** The capacity of a resource for all agents has changed. */
export interface LevelEvent extends OfResource {
  /**
   * - `cut`: the provider refused a request
   * - `pause`: the provider refused again or is in trouble; all agents wait and the level is kept
   * - `recovery`: the level rose by one step
   * - `restored`: the provider's own numbers showed that the limit is fully restored
   * - `limit`: the smallest limit configured by any agent has changed
   */
  readonly cause: "cut" | "pause" | "recovery" | "restored" | "limit";
  /** The part of the limit that may be used, 0 to 1: now and before the change. */
  readonly level: number;
  readonly before: number;
  /** The limit × the level. */
  readonly total: number;
  readonly pausedForMs: number;
  /** The agent that caused the change, and its reason. */
  readonly by: string;
  readonly reason: string;
}

/** Whether an endpoint or one of its models may be called. The guide on failure modes describes each state. */
export type AvailabilityState = "available" | "overloaded" | "broken" | "parked";

/** An endpoint, or a model of it, has become available or unavailable for all agents. */
export interface AvailabilityEvent extends OfResource {
  readonly state: AvailabilityState;
  readonly before: AvailabilityState;
  /**
   * - `overload`, `failures`, `quota`: answers of the provider showed it
   * - `parked`, `unparked`: a program or an operator requested it
   * - `probe-failed`: the probe call failed, so the backoff is longer
   * - `recovered`: a call succeeded
   * - `ended`: the stated time has passed
   */
  readonly cause: "overload" | "failures" | "quota" | "parked" | "unparked" | "probe-failed" | "recovered" | "ended";
  /** Time in milliseconds until the next call may be sent; undefined when unknown. */
  readonly retryAfterMs: number | undefined;
  /** The agent that caused the change, and its reason. */
  readonly by: string;
  readonly reason: string;
}

/** Another agent has joined, left or fallen silent. */
export interface MemberEvent extends EventOrigin {
  readonly member: string;
  /** `silent`: the agent stopped reporting without a goodbye. */
  readonly change: "joined" | "left" | "silent";
  /** Number of live agents, including this one. */
  readonly members: number;
}

/** An announcement reports a refusal by the provider; a presence message reports membership and usage. */
export type MessageKind = "announcement" | "presence";

/** A message was published, or its publication failed. */
export interface PublishedEvent extends EventOrigin {
  readonly message: MessageKind;
  readonly bytes: number;
  /** The error of a failed publication; undefined when the bus has accepted the message. */
  readonly error: unknown;
}

/** A message was received from any agent, including this one. */
export interface ReceivedEvent extends EventOrigin {
  readonly message: MessageKind;
  readonly bytes: number;
}

/** A message or a part of it was ignored. The reasons are a small fixed set. */
export interface IgnoredEvent extends EventOrigin {
  readonly message: MessageKind;
  readonly reason: string;
}

/** The state of a bus has changed. */
export interface BusEvent {
  /** The name of the bus: "nats", "kafka". */
  readonly bus: string;
  readonly state: "connecting" | "ready" | "interrupted" | "closed";
  readonly before: BusEvent["state"];
}

/** A call of a store has ended. */
export interface SyncedEvent extends EventOrigin {
  /**
   * - `sync`: reported counts and received sums
   * - `share`: requested this agent's part of the limits
   */
  readonly operation: "sync" | "share";
  readonly durationMs: number;
  /** Number of counts or limits in the call. */
  readonly sent: number;
  /**
   * Time in milliseconds since the last successful call: 0 when this call succeeded; Infinity when none has succeeded.
   */
  readonly ageMs: number;
  /** The error of a failed call; undefined when the call succeeded. */
  readonly error: unknown;
}

/** An endpoint and a model that a call has moved away from. */
export interface CallOrigin {
  readonly resource: string;
  readonly model: string | undefined;
}

/** A request with a lease is about to be sent to a provider. Published in the asynchronous context of the caller. */
export interface SendingEvent {
  /** The endpoint of the lease. */
  readonly resource: string;
  /** The model as named in the request. */
  readonly model: string | undefined;
  readonly provider: string;
  /** Number of times that the call was sent before. */
  readonly retries: number;
  /** The delay between the last refusal and this retry, in milliseconds; 0 for a call that was not delayed. */
  readonly delayMs: number;
  /** Number of times that the call has moved to another endpoint or model. */
  readonly moves: number;
  /** The endpoint and model that the call moved away from last; undefined for a call that has not moved. */
  readonly movedFrom: CallOrigin | undefined;
  readonly lease: Lease;
  /** An opaque object that identifies the call; the `sent` event carries the same object. */
  readonly call: object;
  /**
   * Sends the request within a context: `around` must call `send` exactly once, synchronously, and return its result.
   */
  within(around: <T>(send: () => T) => T): void;
}

/** A request was answered, refused or failed. The body of a streamed answer may still be in transit. */
export interface SentEvent {
  readonly resource: string;
  readonly model: string | undefined;
  readonly provider: string;
  readonly retries: number;
  readonly lease: Lease;
  readonly call: object;
  readonly durationMs: number;
  /** `failed`: no answer was received. */
  readonly outcome: "answered" | "refused" | "failed";
  /** Why the provider refused: "rate_limited", "overloaded", … */
  readonly refusal: string | undefined;
  readonly error: unknown;
}

/** The event type of each channel. */
export interface DiagnosticEvents {
  readonly "hivepace:granted": GrantedEvent;
  readonly "hivepace:denied": DeniedEvent;
  readonly "hivepace:waiting": WaitingEvent;
  readonly "hivepace:waited": WaitedEvent;
  readonly "hivepace:ended": EndedEvent;
  readonly "hivepace:announced": AnnouncedEvent;
  readonly "hivepace:level": LevelEvent;
  readonly "hivepace:availability": AvailabilityEvent;
  readonly "hivepace:member": MemberEvent;
  readonly "hivepace:published": PublishedEvent;
  readonly "hivepace:received": ReceivedEvent;
  readonly "hivepace:ignored": IgnoredEvent;
  readonly "hivepace:bus": BusEvent;
  readonly "hivepace:synced": SyncedEvent;
  readonly "hivepace:sending": SendingEvent;
  readonly "hivepace:sent": SentEvent;
}
