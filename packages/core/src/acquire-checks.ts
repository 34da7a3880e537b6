import { AMOUNT, isAmount } from "./amount.ts";
import { InvalidConfigError } from "./errors.ts";
import type { AcquireOptions } from "./rate-limiter.ts";

export function checkCost(cost: number): void {
  if (!isAmount(cost)) throw new InvalidConfigError("cost", AMOUNT, cost);
}

export function checkAcquireOptions({ cost, timeoutMs, priority }: AcquireOptions): void {
  if (cost !== undefined) checkCost(cost);
  if (timeoutMs !== undefined && !(timeoutMs >= 0)) throw new InvalidConfigError("timeoutMs", "0 or more", timeoutMs);
  if (priority !== undefined && !Number.isFinite(priority))
    throw new InvalidConfigError("priority", "a finite number", priority);
}

export function checkMaxQueue(maxQueue: number): void {
  if (!(maxQueue === Infinity || (Number.isInteger(maxQueue) && maxQueue >= 0)))
    throw new InvalidConfigError("maxQueue", "a whole number of 0 or more, or Infinity", maxQueue);
}
