import { type Agent, at, capacityOf, type Quota, slotReadingOf } from "../engine/index.ts";
import type { SlotStatus } from "./distributed-limiter.ts";

/** The state of a quota of slots for `status()`; undefined for other quotas. */
export function slotStatus(agent: Agent, quota: Quota, now: number): SlotStatus | undefined {
  const reading = slotReadingOf(agent, quota, now);
  if (!reading) return undefined;
  const { used, usedHere, departed, longest } = reading;
  return { limit: Math.floor(at(capacityOf(agent, quota, now), 0) + 1e-6), used, usedHere, departed, longest };
}
