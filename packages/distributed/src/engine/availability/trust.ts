import type { Agent } from "../agent.ts";
import { TRUST } from "../trust-rules.ts";
import type { Register } from "./register.ts";

/** Longest time for which a message of another agent may close an endpoint. */
export function longestForeignMs({ config, agenda }: Agent): number {
  return config.isSigned ? Infinity : Math.max(TRUST.unsignedClosureMs, agenda.longestWindowMs);
}

/**
 * Clamps a received register to its bounds. Without a signature neither the wait nor the number of closures may be longer than
 * the sender could have caused in a window: each closure doubles the waits of later ones.
 */
export function boundedRegister(agent: Agent, register: Register): Register {
  const { waitMs, count, state } = register;
  const longestMs = longestForeignMs(agent);
  const mostClosures = agent.config.isSigned ? Infinity : TRUST.unsignedClosures[state];
  if (waitMs <= longestMs && count <= mostClosures) return register;
  return { ...register, waitMs: Math.min(waitMs, longestMs), count: Math.min(count, mostClosures) };
}
