/**
 * The only public module of the engine. `newAgent` creates an agent and `step` changes it; `takeNow` and `settleNow` are the
 * two events of every call, without the cost of an event. All other exports only read. Outside the engine, agents and quotas are views: TypeScript rejects code that would write to them.
 */

import { newAgent as createAgent } from "./agent.ts";
import type { Amounts } from "./amounts.ts";
import {
  nextOpeningAt as findNextOpening,
  troubleRank as rank,
  readAvailability as read,
} from "./availability/reading.ts";
import { availableAt as computeAvailableAt } from "./available-at.ts";
import { capacityOf as computeCapacity, largestCost as computeLargestCost } from "./capacity.ts";
import { violatedInvariant as findViolated } from "./invariants.ts";
import { forgetAfterMs as computeForgetAfter } from "./membership.ts";
import { agentMode as computeMode } from "./modes/mode-of.ts";
import { available, ownUsage, share, subWindows, swarmUsage } from "./readings.ts";
import { slotReading as readSlots } from "./slot-readings.ts";
import {
  step as applyEvent,
  planTry as applyPlan,
  settleNow as applySettle,
  takeNow as applyTake,
  wakeAfterSettling as computeWakeAfterSettling,
  wakeAfterTaking as computeWakeAfterTaking,
} from "./step.ts";
import { mayTake as canTake } from "./take.ts";
import type { AgentView, Outside, QuotaView } from "./view.ts";

export { reportedLimit } from "./adaptive-limit.ts";
export {
  type Amounts,
  addTo,
  at,
  fits,
  isEqual,
  isZero,
  minus,
  SLACK,
  scaled,
  takeFrom,
  zeros,
} from "./amounts.ts";
export type { Answer } from "./availability/answers.ts";
export { REMEMBERED, type SentCall } from "./availability/evidence.ts";
export type { AvailabilityReading } from "./availability/reading.ts";
export {
  type AvailabilityCause,
  closedUntil,
  isClosed as isRegisterClosed,
  LONGEST_PARK_MS,
  mergeRegisters,
  type Register,
  withRegisterAges,
} from "./availability/register.ts";
export type { AvailabilityReport } from "./availability/share.ts";
export type { Climb } from "./climb.ts";
export { type DatedUsage, datedLike } from "./dated-usage.ts";
export { type Dimensions, hasSameDimensions, UNLIMITED } from "./dimensions.ts";
export type { Effects, Event } from "./events.ts";
export { fairShares } from "./fair-shares.ts";
export {
  EPOCHS_AHEAD,
  FULL,
  isCooling,
  isLater,
  type Level,
  type LevelRules,
  levelAt,
  merge,
  nextStepAt,
  pausedUntil,
  type Refused,
  withAges,
} from "./level.ts";
export { type ChainLink, type ClaimReport, LONGEST_NEXT_MS, type Message, type QuotaReport } from "./message.ts";
export type { ModeName } from "./modes/mode.ts";
export type { QuotaConfig } from "./quota.ts";
export { type Isolation, KEPT } from "./silence.ts";
export { SLOT_WINDOW_MS } from "./slots.ts";
export { LONGEST_STAY_MS, type Spread } from "./spread.ts";
export type { StoreConfig } from "./store-mode.ts";
export type { StoreRequest } from "./store-request.ts";
export type { SubWindowConfig } from "./sub-windows.ts";
export { TRUST, TRUST_RULES } from "./trust-rules.ts";
export { TUNING, type Tuning } from "./tuning.ts";
export { MOST_REFUNDS, type Refund } from "./unreported-refunds.ts";
export { BINS, UsageWindow } from "./usage-window.ts";
export type { AgentView as Agent, QuotaView as Quota } from "./view.ts";

/** Creates an agent without quotas. Quotas are added by `configure` events. */
export const newAgent = createAgent as Outside<typeof createAgent>;

/** Applies one event to an agent and returns the actions for the caller. Nothing else changes an agent. */
export const step = applyEvent as unknown as Outside<typeof applyEvent>;

/** The cost of a request in one quota. */
export interface QuotaPart {
  readonly quota: QuotaView;
  readonly cost: Amounts;
}

/**
 * The same as `step` with a `take` event, for callers that decide on many requests: without an event, effects and a
 * look-up of the quotas. The agent must have the quotas.
 */
export const takeNow = applyTake as unknown as (agent: AgentView, parts: readonly QuotaPart[], now: number) => boolean;

/** Latest time of the next `wake` event after `takeNow`. */
export const wakeAfterTaking = computeWakeAfterTaking as unknown as (
  agent: AgentView,
  parts: readonly QuotaPart[],
  now: number,
) => number;

/** The same as `step` with a `settle` event, without an event and effects. */
export const settleNow = applySettle as unknown as Outside<typeof applySettle>;

/** Plans the next try of the next waiting call after `settleNow`. Returns its time; Infinity when none waits. */
export const planTry = applyPlan as unknown as Outside<typeof applyPlan>;

/** Latest time of the next `wake` event after `settleNow`. */
export const wakeAfterSettling = computeWakeAfterSettling as unknown as Outside<typeof computeWakeAfterSettling>;

/** The agent's present mode of obtaining capacity, apart from any quota. */
export const agentMode = computeMode as unknown as Outside<typeof computeMode>;

/** The amounts that the swarm may use in a window now: the limits, less the safety margin, at the backoff level. */
export const capacityOf = computeCapacity as unknown as Outside<typeof computeCapacity>;

/** The largest cost that a window can hold at the full level. */
export const largestCost = computeLargestCost as unknown as Outside<typeof computeLargestCost>;

/** True when a `take` event of this cost would be granted now. */
export const mayTake = canTake as unknown as Outside<typeof canTake>;

/**
 * Time at which a call could be sent behind own calls that take `ahead`; `now` if it could be sent at once. An estimate
 * among other agents.
 */
export const availableAt = computeAvailableAt as unknown as Outside<typeof computeAvailableAt>;

/** The amounts that this agent may take now without waiting. */
export const availableOf = available as unknown as Outside<typeof available>;

/** This agent's share of the capacity, per window. */
export const shareOf = share as unknown as Outside<typeof share>;

/** Usage of this agent in the window that ends now. */
export const ownUsageOf = ownUsage as unknown as Outside<typeof ownUsage>;

/** Usage of all agents in the window that ends now. */
export const swarmUsageOf = swarmUsage as unknown as Outside<typeof swarmUsage>;

/** The limits over shorter windows, configured or learned, with their usage. */
export const subWindowsOf = subWindows as unknown as Outside<typeof subWindows>;

/** The state of a quota of slots; undefined for other quotas. */
export const slotReadingOf = readSlots as unknown as Outside<typeof readSlots>;

/** The obstacle to calls to an endpoint, or to a model of it; undefined when it is available. */
export const readAvailability = read as unknown as Outside<typeof read>;

/**
 * Returns 1 while the latest answers of an endpoint were trouble, so that routing prefers other endpoints; otherwise 0.
 */
export const troubleRank = rank as unknown as Outside<typeof rank>;

/** Time at which a closed endpoint next opens by time alone. */
export const nextOpeningAt = findNextOpening as unknown as Outside<typeof findNextOpening>;

/** Returns the invariant that an agent violates after a step; undefined when all hold. For simulations and tests. */
export const violatedInvariant = findViolated as unknown as Outside<typeof findViolated>;

/** Silence after which an agent forgets a peer. Until then it recognises repeated messages by their sequence numbers. */
export const forgetAfterMs = computeForgetAfter as unknown as Outside<typeof computeForgetAfter>;
