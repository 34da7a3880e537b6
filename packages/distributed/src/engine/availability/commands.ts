import type { Agent } from "../agent.ts";
import { change, open } from "./change.ts";
import { useEntry } from "./entries.ts";
import { isClosed, LONGEST_PARK_MS } from "./register.ts";
import { longestForeignMs } from "./trust.ts";

/** An explicit decision of a program or an operator about an endpoint. */
export interface ParkCommand {
  readonly endpoint: string;
  readonly model: string | undefined;
  readonly reason: string;
  /** The operator who sent the command over the bus; undefined for a decision of this agent's program. */
  readonly by?: string | undefined;
}

/** Parks an endpoint or a model: closes it for `forMs`, or until `unpark` when `forMs` is undefined. */
export function park(agent: Agent, command: ParkCommand & { readonly forMs: number | undefined }, now: number): void {
  const { endpoint, model, forMs = LONGEST_PARK_MS, reason, by } = command;
  const entry = useEntry(agent, endpoint, model, now);
  if (!entry) return;
  const longestMs = by === undefined ? LONGEST_PARK_MS : longestForeignMs(agent);
  const waitMs = Math.min(forMs, longestMs);
  change(
    agent,
    entry,
    { state: "parked", cause: "parked", count: 0, since: now, waitMs, isProbed: false, refusalMs: 0, reason },
    now,
    by,
  );
}

/** Opens a closed model, or a closed endpoint with all its models. */
export function unpark(agent: Agent, { endpoint, model, reason, by }: ParkCommand, now: number): void {
  for (const entry of agent.availability.entries.values()) {
    if (entry.endpoint !== endpoint || (model !== undefined && entry.model !== model)) continue;
    if (entry.local) {
      entry.local = undefined;
      agent.availability.version++;
    }
    entry.isContradicted = false;
    if (isClosed(entry.register, now)) open(agent, entry, { cause: "unparked", reason, by }, now);
  }
}
