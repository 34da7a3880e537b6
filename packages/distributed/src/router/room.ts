import type { RateDecision } from "@hivepace/core";
import type { OthersUsage } from "../global-view/view-types.ts";
import type { PassedOver } from "./router-types.ts";
import type { Open } from "./strategies.ts";

/** A candidate without capacity. The text is built when somebody reads it, which decisions do not. */
export interface Full extends Omit<PassedOver, "why"> {
  readonly why: () => string;
  /** The decision of this process that denies the request. */
  readonly local?: RateDecision;
}

/**
 * Checks whether an endpoint has capacity for a request: first by the counts of this process, then by those of all
 * instances.
 */
export function roomOf(
  endpoint: string,
  tokens: number,
  local: RateDecision,
  others: OthersUsage | undefined,
): Open | Full {
  const { currentRpm, limitRpm, currentTpm, limitTpm, limitedBy, retryAfterMs } = local;
  if (!local.allowed) {
    const why = (): string => {
      const [used, limit] = limitedBy?.endsWith("rpm") ? [currentRpm, limitRpm] : [currentTpm, limitTpm];
      const numbers = limitedBy === "endpoint-in-flight" ? "" : `, ${used} of ${limit} used`;
      return `${limitedBy} (${local.reason})${numbers}`;
    };
    return { endpoint, by: "local", why, retryAfterMs, isNever: local.reason === "too-large", local };
  }
  if (others === undefined) return { endpoint, utilization: local.utilization };
  const rpm = currentRpm + others.requests;
  const tpm = currentTpm + others.tokens;
  const isFull = rpm + 1 > limitRpm;
  if (isFull || tpm + tokens > limitTpm) {
    const why = () =>
      isFull ? `all instances: ${rpm} of ${limitRpm} requests` : `all instances: ${tpm} of ${limitTpm} tokens`;
    return { endpoint, by: "global", why, retryAfterMs: Math.max(1, Math.ceil(others.remainingMs)), isNever: false };
  }
  return { endpoint, utilization: Math.max(local.utilization, rpm / limitRpm, tpm / limitTpm) };
}

/**
 * The result for an endpoint that answered 429. An endpoint that also lacks capacity becomes available after the longer
 * of both waits.
 */
export function leftAlone(room: Open | Full, forMs: number): Full {
  const { endpoint } = room;
  const full = "by" in room ? room : undefined;
  const why = () => `it answered 429 and is left alone for ${forMs} ms`;
  const fullMs = full ? full.retryAfterMs : 0;
  const retryAfterMs = fullMs === undefined ? undefined : Math.max(forMs, fullMs);
  return { endpoint, by: "refused", why, retryAfterMs, isNever: full?.isNever ?? false };
}

/**
 * The result for an unavailable endpoint. An endpoint that also lacks capacity becomes available after the longer of
 * both waits.
 */
export function unavailable(room: Open | Full, { why, waitMs }: { why: string; waitMs: number }): Full {
  const full = "by" in room ? room : undefined;
  const fullMs = full ? full.retryAfterMs : 0;
  const retryAfterMs = fullMs === undefined || waitMs === Infinity ? undefined : Math.ceil(Math.max(waitMs, fullMs));
  return { endpoint: room.endpoint, by: "unavailable", why: () => why, retryAfterMs, isNever: full?.isNever ?? false };
}

/**
 * Chooses the endpoint to wait for: the one that becomes available first, then one that waits for other calls to end;
 * one that never has capacity comes last.
 */
export function freesFirst(passedOver: readonly PassedOver[]): PassedOver | undefined {
  let first: PassedOver | undefined;
  for (const one of passedOver) if (first === undefined || waitRank(one) < waitRank(first)) first = one;
  return first;
}

/** Orders endpoints without capacity by their waits. */
export const waitRank = ({ retryAfterMs, isNever }: Pick<PassedOver, "retryAfterMs" | "isNever">): number =>
  isNever ? Infinity : (retryAfterMs ?? Number.MAX_VALUE);

/** The public form of a candidate without capacity. */
export function told({ endpoint, by, why, retryAfterMs, isNever }: Full): PassedOver {
  return { endpoint, by, why: why(), retryAfterMs, isNever };
}
