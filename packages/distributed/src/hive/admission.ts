import type { RateDecision, RateManager } from "@hivepace/core";
import { scaled } from "../engine/amounts.ts";
import type { Use } from "./amounts-of.ts";
import type { Share, Target } from "./target.ts";

/** What was counted for a request that may be sent, and where. */
export interface Charge {
  readonly target: Target;
  readonly use: Use;
  readonly sentAt: number;
  /** Undefined when it was sent though it was denied: then the manager has not counted it. */
  readonly decision: RateDecision | undefined;
  readonly shares: readonly Share[];
}

export type Verdict =
  | { readonly charge: Charge; readonly decision: RateDecision }
  | { readonly charge: undefined; readonly decision: RateDecision };

/**
 * Decides on a request and counts it: for its key, in the endpoint's window and in all that is shared with others. In one
 * step, without anything in between; and after a denial nothing is counted.
 */
export function admit(
  manager: RateManager,
  target: Target,
  model: string | undefined,
  key: string | undefined,
  use: Use,
  now: number,
): Verdict {
  const { tokens, inputTokens, outputTokens } = use;
  const decision = manager.check({ endpoint: target.id, model, key, tokens, inputTokens, outputTokens });
  if (!decision.allowed) return { charge: undefined, decision };
  const taken: Share[] = [];
  for (const share of target.shares) {
    const cost = share.amounts(use);
    if (share.take(cost, now)) {
      taken.push(share);
      continue;
    }
    for (const other of taken) other.settle(scaled(other.amounts(use), -1), now);
    manager.cancel(decision);
    return { charge: undefined, decision: share.denial(cost, decision, now) };
  }
  return { charge: { target, use, sentAt: now, decision, shares: taken }, decision };
}

/** Counts what is sent though it was denied: by one who only observes. */
export function admitAnyway(target: Target, use: Use, now: number): Charge {
  for (const share of target.shares) share.settle(share.amounts(use), now);
  return { target, use, sentAt: now, decision: undefined, shares: target.shares };
}

/** It took so much. */
export function settle(manager: RateManager, charge: Charge, used: Use): void {
  const { decision, use, shares, sentAt } = charge;
  if (decision) {
    const { inputTokens, outputTokens } = used;
    manager.settle(decision, used.tokens, { inputTokens, outputTokens });
  }
  for (const share of shares) {
    const thought = share.amounts(use);
    share.settle(
      share.amounts(used).map((amount, i) => amount - (thought[i] as number)),
      sentAt,
    );
  }
}

/** It was never sent, or was refused: all of it is given back. */
export function giveBack(manager: RateManager, charge: Charge): void {
  const { decision, use, shares, sentAt } = charge;
  if (decision) manager.cancel(decision);
  for (const share of shares) share.settle(scaled(share.amounts(use), -1), sentAt);
}
