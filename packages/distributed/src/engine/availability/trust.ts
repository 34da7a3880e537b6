import type { Agent } from "../agent.ts";
import type { Register } from "./register.ts";

/** The longest time for which one unsigned message can close an endpoint; one window, if that is longer. */
const LONGEST_UNSIGNED_MS = 60_000;

/** Longest time for which a message of another agent may close an endpoint. */
export function longestForeignMs({ config, quotas }: Agent): number {
  if (config.isSigned) return Infinity;
  let longestMs = LONGEST_UNSIGNED_MS;
  for (const quota of quotas.values()) longestMs = Math.max(longestMs, quota.config.windowMs);
  return longestMs;
}

/** Clamps a received register to its bounds. */
export function boundedRegister(agent: Agent, register: Register): Register {
  const longestMs = longestForeignMs(agent);
  return register.waitMs > longestMs ? { ...register, waitMs: longestMs } : register;
}
