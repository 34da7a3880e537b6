import type { RateDecision, RateManager } from "@hivepace/core";
import { allOf, type Use } from "./amounts-of.ts";
import { denialOf } from "./denial.ts";
import type { HiveDimension } from "./hive-types.ts";
import type { ActiveKey, Keys } from "./keys.ts";
import type { Share, Target } from "./target.ts";

/** What was counted for a request that may be sent, and where. */
export interface Charge {
  readonly target: Target;
  readonly use: Use;
  readonly sentAt: number;
  /** Undefined when it was sent though it was denied: then the manager has not counted it. */
  readonly decision: RateDecision | undefined;
  /** None when there was no limit to share. */
  readonly shares: readonly Share[];
  /** The tenant key, if it has limits, and the quotas of these. */
  readonly key: ActiveKey | undefined;
  readonly keyShares: readonly Share[];
}

export type Verdict =
  | { readonly charge: Charge; readonly decision: RateDecision }
  | {
      readonly charge: undefined;
      readonly decision: RateDecision;
      /** What stands against it first is its key, which has something left after this long; undefined: it is not the key. */
      readonly keyWaitMs?: number | undefined;
    };

/** A key that was denied without a time is looked at again after this. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Decides on a request and counts it: for its key, in the endpoint's window and in all that is shared with others. In one
 * step, without anything in between; and after a denial nothing is counted.
 */
export function admit(
  manager: RateManager,
  keys: Keys,
  target: Target,
  model: string | undefined,
  id: string | undefined,
  use: Use,
  now: number,
): Verdict {
  const { tokens, inputTokens, outputTokens } = use;
  const decision = manager.check({ endpoint: target.id, model, key: id, tokens, inputTokens, outputTokens });
  const key = keys.use(id, now);
  if (!decision.allowed) {
    const isByKey = decision.reason !== "too-large" && decision.limitedBy?.startsWith("key-");
    const keyWaitMs = isByKey ? (decision.retryAfterMs ?? LOOK_AGAIN_MS) : undefined;
    return { charge: undefined, decision: denialOf(target, key, use, decision, undefined, now, true), keyWaitMs };
  }
  const { shares } = target;
  const keyShares = key?.shares ?? NONE;
  const all = key ? [...shares, ...keyShares] : shares;
  const [first] = all;
  if (first && !first.take(use, all.length === 1 ? NONE : all.slice(1), now)) {
    manager.cancel(decision);
    const denial = denialOf(target, key, use, decision, undefined, now, true);
    return { charge: undefined, decision: denial, keyWaitMs: keyWaitOf(key, use, denial, now) };
  }
  if (shares.length === 0) countUnshared(target, allOf(use), now);
  return { charge: { target, use, sentAt: now, decision, shares, key, keyShares }, decision };
}

const NONE: readonly Share[] = [];

/** How long a key's limits stand against a request; undefined when they do not, or when no wait helps. */
function keyWaitOf(key: ActiveKey | undefined, use: Use, { reason }: RateDecision, now: number): number | undefined {
  if (!key || reason === "too-large") return undefined;
  const waitMs = Math.max(...key.shares.map((share) => share.waitMs(share.amounts(use), undefined, now)));
  return waitMs > 0 ? Math.ceil(waitMs) : undefined;
}

/** Counts what is sent though it was denied: by one who only observes. */
export function admitAnyway(target: Target, key: ActiveKey | undefined, use: Use, now: number): Charge {
  const { shares } = target;
  const keyShares = key?.shares ?? NONE;
  for (const share of [...shares, ...keyShares]) share.settle(share.amounts(use), now);
  if (shares.length === 0) countUnshared(target, allOf(use), now);
  return { target, use, sentAt: now, decision: undefined, shares, key, keyShares };
}

/** It took so much. */
export function settle(manager: RateManager, charge: Charge, used: Use, now: number): void {
  const { decision, use } = charge;
  if (decision) {
    const { inputTokens, outputTokens } = used;
    manager.settle(decision, used.tokens, { inputTokens, outputTokens });
  }
  const more = {
    requests: 0,
    tokens: used.tokens - use.tokens,
    inputTokens: used.inputTokens - use.inputTokens,
    outputTokens: used.outputTokens - use.outputTokens,
  };
  correct(charge, more, now);
}

/** It was never sent, or was refused: all of it is given back. */
export function giveBack(manager: RateManager, charge: Charge, now: number): void {
  const { decision, use } = charge;
  if (decision) manager.cancel(decision);
  const { requests, tokens, inputTokens, outputTokens } = use;
  const more = { requests: -requests, tokens: -tokens, inputTokens: -inputTokens, outputTokens: -outputTokens };
  correct(charge, more, now);
}

function correct({ target, key, shares, keyShares, sentAt }: Charge, more: Use, now: number): void {
  correctShared(keyShares, key?.shares ?? NONE, more, sentAt);
  if (shares.length > 0) correctShared(shares, target.shares, more, sentAt);
  // Limits may have become known since: then it was counted there.
  else if (target.counting) target.counting.settle(target.counting.amounts(more), sentAt);
  else correctUnshared(target, allOf(more), sentAt, now);
}

/**
 * Corrects the quotas that a call was charged to. Where limits have changed since, extra usage also counts in the quotas
 * and dimensions that came later; nothing is given back there, because nothing was taken.
 */
function correctShared(charged: readonly Share[], present: readonly Share[], more: Use, sentAt: number): void {
  for (const share of charged) share.settle(share.amounts(more), sentAt);
  for (const share of present) {
    const before = charged.find(({ name }) => name === share.name);
    if (before === share) continue;
    const isCounted = (dimension: HiveDimension) => before?.dimensions.includes(dimension) ?? false;
    share.settle(
      share.dimensions.map((dimension) => (isCounted(dimension) ? 0 : Math.max(0, more[dimension]))),
      sentAt,
    );
  }
}

/** Reconciles as the engine does: extra usage counts now, refunds count when the call was sent. */
function correctUnshared({ unshared }: Target, more: readonly number[], sentAt: number, now: number): void {
  const extra = more.map((amount) => Math.max(0, amount));
  const returned = more.map((amount) => Math.min(0, amount));
  unshared.add(now, extra);
  if (now - sentAt < unshared.windowMs) unshared.add(sentAt, returned);
  unshared.expire(now);
}

function countUnshared({ unshared }: Target, amounts: readonly number[], at: number): void {
  unshared.add(at, amounts);
  unshared.expire(at);
}
