export type { AbortSignalLike } from "./abort-signal.ts";
export { type Clock, systemClock, type TimerOptions } from "./clock.ts";
export type {
  AnnouncedEvent,
  BusEvent,
  DecidingLimit,
  DeniedEvent,
  DeniedReason,
  DiagnosticEvents,
  EndedEvent,
  EventOrigin,
  EventSource,
  GrantedEvent,
  IgnoredEvent,
  LevelEvent,
  MemberEvent,
  MessageKind,
  OfResource,
  PublishedEvent,
  ReceivedEvent,
  SendingEvent,
  SentEvent,
  SyncedEvent,
  WaitedEvent,
  WaitingEvent,
} from "./diagnostic-events.ts";
export { channelNames } from "./diagnostics.ts";
export {
  CapacityExhaustedError,
  ClosedError,
  type ExhaustedReason,
  HivepaceError,
  type HivepaceErrorCodes,
  InvalidCapacityError,
  InvalidConfigError,
  InvalidWindowError,
  isHivepaceError,
  ResourceUnknownError,
} from "./errors.ts";
export type {
  Gate,
  GateRequest,
  Lease,
  LimitDimension,
  LimitObservation,
  ObservedLimit,
  Refusal,
  UsedTokens,
} from "./gate.ts";
export {
  MemoryLimiter,
  type MemoryLimiterOptions,
  type MemoryLimiterStatus,
  type MemoryResourceStatus,
} from "./memory-limiter.ts";
export {
  type EndpointConfig,
  type EndpointCount,
  type EndpointFileConfig,
  type EndpointLimits,
  type KeyCount,
  type KeyFileConfig,
  type KeyLimits,
  type LimitedBy,
  PackedCounters,
  type RateConfig,
  type RateDecision,
  type RateHandle,
  RateManager,
  type RateManagerOptions,
  type RateRequest,
  type RateSnapshot,
  type RateTarget,
  type SharedHandle,
  SharingUnavailableError,
  TableFullError,
} from "./rate/index.ts";
export type {
  AcquireOptions,
  Capacity,
  CapacityOptions,
  CapacityUpdate,
  RateLimiter,
  ReducedDetails,
} from "./rate-limiter.ts";
export {
  LEARN_HEARTBEATS,
  SHARE_BINS,
  type ShareAnswer,
  type ShareCrowd,
  type ShareLevel,
  type SharePool,
  type ShareReply,
  type ShareReport,
  type ShareStore,
} from "./share-store.ts";
export { SyncClosedError, SyncUnavailableError } from "./sync-errors.ts";
export type { SyncCount, SyncName, SyncReply, SyncReport, SyncStore, SyncSum } from "./sync-store.ts";
export { type BucketLimit, TokenBucket } from "./token-bucket.ts";
