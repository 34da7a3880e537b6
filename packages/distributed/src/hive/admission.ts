import type { RateDecision, RateManager } from "@hivepace/core";
import type { UsageWindow } from "../engine/index.ts";
import { allOf, moreThan, type Use } from "./amounts-of.ts";
import type { Asked } from "./asked.ts";
import { denialOf } from "./denial.ts";
import type { HeldClock } from "./held-clock.ts";
import type { HiveDimension } from "./hive-types.ts";
import type { LeaseState } from "./lease-book.ts";
import type { Scope } from "./scope.ts";
import type { Share, Target } from "./target.ts";

/** A scope of a call, with the quotas of the scope that the call was charged to. */
interface ChargedScope {
  readonly scope: Scope;
  readonly shares: readonly Share[];
}

/**
 * The charge of a request that may be sent: the amounts, and the limits that they were charged to. It is the state of the
 * request's lease as well.
 */
export interface Charge extends LeaseState {
  readonly target: Target;
  /** The model of the request. */
  readonly model: string | undefined;
  readonly use: Use;
  readonly sentAt: number;
  /** The number of the call in the order of sending; set with the lease. */
  order: number;
  /**
   * The manager's decision; undefined when the request was sent despite a denial, so that the manager has not counted
   * it.
   */
  readonly decision: RateDecision | undefined;
  /** The charged quotas of the endpoint; empty when it has no shared limit. */
  readonly shares: readonly Share[];
  readonly scopes: readonly ChargedScope[];
  /** The call probes a half-open endpoint. */
  isProbe: boolean;
  /** The provider has begun to answer. */
  hasAnswer: boolean;
}

export type Verdict =
  | { readonly charge: Charge; readonly decision: RateDecision }
  | {
      readonly charge: undefined;
      readonly decision: RateDecision;
      /**
       * The scopes that deny the request and that it must wait for first; empty when its endpoint denies it or waiting
       * does not help.
       */
      readonly blockedBy: readonly Scope[];
      /** Time after which the blocking scopes have capacity. */
      readonly blockedMs: number;
    };

/** The counts of this process alone, and the clock of their manager. */
export interface Counts {
  readonly manager: RateManager;
  readonly clock: HeldClock;
}

/** Retry interval for a key that was denied without a wait. */
const RETRY_MS = 1_000;

const NO_SCOPES: readonly Scope[] = [];
const NO_SHARES: readonly Share[] = [];
const NOTHING_CHARGED: readonly ChargedScope[] = [];

/**
 * Decides on a request and counts it in the endpoint's window and in all quotas of the endpoint and of the request's
 * scopes. The decision is atomic: after a denial nothing is counted. `local` is the denial by the counts of this process, where
 * it is known already.
 */
export function admit(
  counts: Counts,
  target: Target,
  scopes: readonly Scope[],
  { model, key, use }: Pick<Asked, "model" | "key" | "use">,
  now: number,
  local?: RateDecision,
): Verdict {
  const decision = local ?? check(counts, target, model, key, use, now);
  if (!decision.allowed) {
    const denial = denialOf(target, scopes, use, decision, undefined, now, true);
    const isByKey = decision.reason !== "too-large" && decision.limitedBy?.startsWith("key-") === true;
    const blockedMs = isByKey ? (decision.retryAfterMs ?? RETRY_MS) : 0;
    // The tenant key is the first scope.
    return { charge: undefined, decision: denial, blockedBy: isByKey ? scopes.slice(0, 1) : NO_SCOPES, blockedMs };
  }
  if (!takeAll(scopes.length === 0 ? target.shares : sharesOf(target, scopes), use, now)) {
    counts.manager.cancel(decision);
    const denial = denialOf(target, scopes, use, decision, undefined, now, true);
    return { charge: undefined, decision: denial, ...blockOf(scopes, use, denial, now) };
  }
  return { charge: chargeOf(target, model, scopes, use, decision, now), decision };
}

/** Counts a request in this process at the time of its decision. */
function check(
  { manager, clock }: Counts,
  target: Target,
  model: string | undefined,
  key: string | undefined,
  { tokens, inputTokens, outputTokens }: Use,
  now: number,
): RateDecision {
  clock.hold(now);
  try {
    const of = modelOf(target, model);
    return manager.check({ endpoint: target.id, model: of, key, tokens, inputTokens, outputTokens });
  } finally {
    clock.release();
  }
}

/** The quotas of the endpoint and of the scopes, in the order in which they are asked. */
function sharesOf({ shares }: Target, scopes: readonly Scope[]): readonly Share[] {
  const all = shares.slice();
  for (const scope of scopes) all.push(...scope.shares);
  return all;
}

/** Takes from all quotas or from none. */
function takeAll(shares: readonly Share[], use: Use, now: number): boolean {
  for (const share of shares) share.price(use);
  const [first] = shares;
  return first === undefined || first.takeWith(shares, now);
}

/** The model under which the manager counts a request. The manager knows a pool of models by each of its models. */
export function modelOf({ model, models }: Target, asked: string | undefined): string | undefined {
  return models || model === undefined ? asked : model;
}

/** The scopes whose limits deny a request, and the duration of the denial; empty when waiting does not help. */
function blockOf(
  scopes: readonly Scope[],
  use: Use,
  { reason }: RateDecision,
  now: number,
): { readonly blockedBy: readonly Scope[]; readonly blockedMs: number } {
  if (scopes.length === 0 || reason === "too-large") return { blockedBy: NO_SCOPES, blockedMs: 0 };
  // A claim may not cover this request. In that case the scope denies it although it has capacity.
  const blocking = scopes.flatMap(({ shares }) => shares.filter((share) => !share.mayTake(share.amounts(use), now)));
  const blockedBy = scopes.filter(({ shares }) => shares.some((share) => blocking.includes(share)));
  const waits = blocking.map((share) => share.waitMs(share.amounts(use), undefined, now));
  return { blockedBy, blockedMs: blocking.length === 0 ? 0 : Math.max(1, Math.ceil(Math.max(...waits))) };
}

/** Counts a request that is sent despite a denial, because the hive only observes. */
export function admitAnyway(
  target: Target,
  scopes: readonly Scope[],
  { model, use }: Pick<Asked, "model" | "use">,
  now: number,
): Charge {
  for (const share of sharesOf(target, scopes)) share.correct(use, now, now);
  return chargeOf(target, model, scopes, use, undefined, now);
}

/** Creates the charge. Usage of a target or scope without rate limits is recorded for those that become known later. */
function chargeOf(
  target: Target,
  model: string | undefined,
  scopes: readonly Scope[],
  use: Use,
  decision: RateDecision | undefined,
  now: number,
): Charge {
  const { shares } = target;
  if (!hasRates(shares)) countUnshared(target.unshared, use, now);
  for (const scope of scopes) if (!hasRates(scope.shares)) countUnshared(scope.unshared, use, now);
  const charged = scopes.length === 0 ? NOTHING_CHARGED : scopes.map((scope) => ({ scope, shares: scope.shares }));
  return {
    target,
    model,
    use,
    sentAt: now,
    order: 0,
    decision,
    shares,
    scopes: charged,
    isProbe: false,
    hasAnswer: false,
    isOpen: false,
    expiresAt: Infinity,
    before: undefined,
    after: undefined,
  };
}

/** Corrects the charge of a call to its actual usage. */
export function settle({ manager, clock }: Counts, charge: Charge, used: Use, now: number): void {
  const { decision, use, shares, scopes, sentAt } = charge;
  if (decision) {
    clock.hold(now);
    try {
      manager.settle(decision, used.tokens, used);
    } finally {
      clock.release();
    }
  }
  if (used !== use) correct(charge, moreThan(use, used), now);
  for (const share of shares) share.release(sentAt, now);
  for (const scope of scopes) for (const share of scope.shares) share.release(sentAt, now);
  releaseLater(charge, now);
}

/** Restarts the leases of the slots of a call that continues. */
export function renew(charge: Charge): void {
  const { shares, scopes } = charge;
  for (const each of [{ shares }, ...scopes]) for (const share of each.shares) share.renew();
  for (const share of laterSlots(charge)) share.renew();
}

/** Returns the whole charge of a call that was never sent or that the provider refused. */
export function giveBack({ manager }: Counts, charge: Charge, now: number): void {
  const { decision, use } = charge;
  if (decision) manager.cancel(decision);
  const { requests, tokens, inputTokens, outputTokens } = use;
  const more = { requests: -requests, tokens: -tokens, inputTokens: -inputTokens, outputTokens: -outputTokens };
  correct(charge, more, now);
  releaseLater(charge, now);
}

/** Frees the slots that count a call although they were limited only after it was charged. */
function releaseLater(charge: Charge, now: number): void {
  for (const share of laterSlots(charge)) share.release(charge.sentAt, now);
}

/** The slots that were limited while a call was under way: they count every call that was. */
function laterSlots({ target, shares, scopes }: Charge): readonly Share[] {
  let later = addLater(NO_SHARES, target.shares, shares);
  for (const { scope, shares: charged } of scopes) later = addLater(later, scope.shares, charged);
  return later;
}

function addLater(later: readonly Share[], present: readonly Share[], charged: readonly Share[]): readonly Share[] {
  // Slots come last.
  const slots = present === charged ? undefined : present.at(-1);
  return slots?.isSlots && !charged.some(({ name }) => name === slots.name) ? [...later, slots] : later;
}

/** True when one of the quotas limits a rate. Slots come last. */
function hasRates([first]: readonly Share[]): boolean {
  return first !== undefined && !first.isSlots;
}

function correct({ target, shares, scopes, sentAt }: Charge, more: Use, now: number): void {
  for (const { scope, shares: charged } of scopes) correctHolder(scope, charged, more, sentAt, now);
  correctHolder(target, shares, more, sentAt, now);
}

/** A target or a scope: its present quotas, and the usage counted before there were any. */
interface Holder {
  readonly shares: readonly Share[];
  readonly counting?: Share | undefined;
  readonly unshared?: UsageWindow | undefined;
}

function correctHolder(holder: Holder, charged: readonly Share[], more: Use, sentAt: number, now: number): void {
  if (hasRates(charged)) {
    correctShared(charged, holder.shares, more, sentAt, now);
    return;
  }
  for (const slots of charged) slots.correct(more, sentAt, now);
  // Limits learned since the charge have already counted the call.
  if (holder.counting) holder.counting.correct(more, sentAt, now);
  else correctUnshared(holder.unshared, allOf(more), sentAt, now);
}

/**
 * Corrects the quotas that a call was charged to. Where limits have changed since, extra usage also counts in the
 * quotas and dimensions added later; they receive no refunds, because they were not charged.
 */
function correctShared(
  charged: readonly Share[],
  present: readonly Share[],
  more: Use,
  sentAt: number,
  now: number,
): void {
  for (const share of charged) share.correct(more, sentAt, now);
  if (present === charged) return;
  for (const share of present) {
    const before = charged.find(({ name }) => name === share.name);
    if (before === share) continue;
    const isCounted = (dimension: HiveDimension) => before?.dimensions.includes(dimension) ?? false;
    share.settle(
      share.dimensions.map((dimension) => (isCounted(dimension) ? 0 : Math.max(0, more[dimension]))),
      sentAt,
      now,
    );
  }
}

/** Reconciles as the engine does: extra usage counts now, refunds count when the call was sent. */
function correctUnshared(
  unshared: UsageWindow | undefined,
  more: readonly number[],
  sentAt: number,
  now: number,
): void {
  if (!unshared) return;
  const extra = more.map((amount) => Math.max(0, amount));
  const returned = more.map((amount) => Math.min(0, amount));
  unshared.add(now, extra);
  if (now - sentAt < unshared.windowMs) unshared.add(sentAt, returned);
  unshared.expire(now);
}

function countUnshared(unshared: UsageWindow | undefined, use: Use, at: number): void {
  if (!unshared) return;
  unshared.add(at, allOf(use));
  unshared.expire(at);
}
