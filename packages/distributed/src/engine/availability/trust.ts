import type { Agent } from "../agent.ts";
import type { Register } from "./register.ts";

/** The longest time for which one unsigned message can close an endpoint; one window, if that is longer. */
const LONGEST_UNSIGNED_MS = 60_000;

/** Longest time for which a message of another agent may close an endpoint. */
export function longestForeignMs({ config, agenda }: Agent): number {
  return config.isSigned ? Infinity : Math.max(LONGEST_UNSIGNED_MS, agenda.longestWindowMs);
}

/** Clamps a received register to its bounds. */
export function boundedRegister(agent: Agent, register: Register): Register {
  const longestMs = longestForeignMs(agent);
  return register.waitMs > longestMs ? { ...register, waitMs: longestMs } : register;
}
