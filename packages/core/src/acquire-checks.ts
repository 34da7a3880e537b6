import { AMOUNT, isAmount } from "./amount.ts";
import { InvalidConfigError } from "./errors.ts";
import type { AcquireOptions, ReducedDetails } from "./rate-limiter.ts";

export function checkCost(cost: number): void {
  if (!isAmount(cost)) throw new InvalidConfigError("cost", AMOUNT, cost);
}

export function checkAcquireOptions({ cost, timeoutMs, priority, signal }: AcquireOptions): void {
  if (cost !== undefined) checkCost(cost);
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs >= 0))
    throw new InvalidConfigError("timeoutMs", "0 or more", timeoutMs);
  if (signal !== undefined && typeof signal?.addEventListener !== "function")
    throw new InvalidConfigError("signal", "an AbortSignal", signal);
  if (priority !== undefined && !Number.isFinite(priority))
    throw new InvalidConfigError("priority", "a finite number", priority);
}

export function checkMaxQueue(maxQueue: number): void {
  if (!(maxQueue === Infinity || (Number.isInteger(maxQueue) && maxQueue >= 0)))
    throw new InvalidConfigError("maxQueue", "a whole number of 0 or more, or Infinity", maxQueue);
}

/** Checks the details of a refusal. Throws INVALID_CONFIG before anything has changed. */
export function checkRefusal(reason: unknown, details: ReducedDetails): void {
  if (typeof reason !== "string") throw new InvalidConfigError("reason", "a string", reason);
  const { sentAgoMs, retryAfterMs, kind } = details;
  for (const [option, value] of Object.entries({ sentAgoMs, retryAfterMs }))
    if (value !== undefined && !(Number.isFinite(value) && value >= 0))
      throw new InvalidConfigError(option, "a finite number of 0 or more", value);
  if (!KINDS.includes(kind)) throw new InvalidConfigError("kind", '"limit", "overload" or "quota"', kind);
}

const KINDS: readonly unknown[] = ["limit", "overload", "quota", undefined];

/** Throws INVALID_CONFIG unless `concerns` names the subject of a refusal or failure. */
export function checkConcerns(concerns: unknown): void {
  if (concerns !== undefined && concerns !== "model" && concerns !== "endpoint")
    throw new InvalidConfigError("concerns", '"model" or "endpoint"', concerns);
}
