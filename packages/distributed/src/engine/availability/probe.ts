import type { Agent } from "../agent.ts";
import { announceEntry } from "./change.ts";
import { type Entry, findEntry } from "./entries.ts";
import { probeAt } from "./reading.ts";
import { isClosed, type Register } from "./register.ts";

/** Marks a granted call as the probe of each half-open register on its path, so that no other call probes meanwhile. */
export function beginProbe(agent: Agent, endpoint: string, model: string | undefined, now: number): void {
  const entries = [
    findEntry(agent, endpoint, undefined),
    model === undefined ? undefined : findEntry(agent, endpoint, model),
  ];
  for (const entry of entries) if (entry) beginIn(agent, entry, now);
}

function beginIn(agent: Agent, entry: Entry, now: number): void {
  const { register, local } = entry;
  const probing = (before: Register): Register => ({
    ...before,
    probes: before.probes + 1,
    prober: agent.config.id,
    probedAt: now,
  });
  agent.availability.version++;
  if (local) entry.local = probing(local);
  if (!isClosed(register, now) || now < probeAt(register, false)) return;
  entry.register = probing(register);
  announceEntry(agent, entry, now, 1);
}
