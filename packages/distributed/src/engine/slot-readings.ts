import type { Agent } from "./agent.ts";
import { at } from "./amounts.ts";
import type { Quota } from "./quota.ts";

/** Multiple of the typical duration above which a call is unusually long. */
const UNUSUAL = 5;
/** Age below which no call is unusually long. */
const LEAST_MS = 30_000;

/** The state of a quota of slots. */
export interface SlotReading {
  /** Calls under way over all agents as far as this agent knows, and those of this agent alone. */
  readonly used: number;
  readonly usedHere: number;
  /** Slots of departed or silent agents, held until their last known calls have ended. */
  readonly departed: number;
  /** Typical duration of this agent's calls; undefined until the first has ended. */
  readonly callMs: number | undefined;
  /** The oldest call, if it has been under way for unusually long. */
  readonly longest: { readonly agentId: string; readonly heldMs: number } | undefined;
}

/** Reads a quota of slots; undefined for other quotas. */
export function slotReading(agent: Agent, quota: Quota, now: number): SlotReading | undefined {
  const { slots, usage, config } = quota;
  if (!slots) return undefined;
  const [first = now] = slots.starts;
  let departed = slots.orphans.reduce((sum, { count }) => sum + count, 0);
  let longest = { agentId: agent.config.id, heldMs: now - first };
  for (const { id, state, quotas } of agent.membership.peers.values()) {
    const known = quotas.get(config.name);
    if (!known || known.slots === 0) continue;
    if (state !== "live") departed += known.slots;
    const heldMs = (known.report.heldMs ?? 0) + now - known.reportedAt;
    if (known.report.heldMs !== undefined && heldMs > longest.heldMs) longest = { agentId: id, heldMs };
  }
  const isUnusual = longest.heldMs > Math.max(LEAST_MS, UNUSUAL * (slots.callMs ?? 0));
  return {
    used: Math.max(0, at(usage.swarm.sum, 0)),
    usedHere: at(usage.own.sum, 0),
    departed,
    callMs: slots.callMs,
    longest: isUnusual ? longest : undefined,
  };
}
