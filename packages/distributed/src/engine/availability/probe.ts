import type { Agent } from "../agent.ts";
import { announceEntry, open } from "./change.ts";
import { type Entry, findEntry } from "./entries.ts";
import { probeAt } from "./reading.ts";
import { isClosed, PROBE_MS, type Register } from "./register.ts";

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
  if (isClosed(register, now) && now >= probeAt(register, false)) {
    entry.register = probing(register);
    announceEntry(agent, entry, now, 1);
  }
  agent.availability.acceptAt = Math.min(agent.availability.acceptAt, acceptedAt(agent, entry, now));
}

/** A probe that is under way for this many times as long as refusals have taken counts as accepted. */
const OUTLIVED = 3;
const LEAST_ACCEPT_MS = 250;
/** Where the time that refusals take is unknown. */
const USUAL_ACCEPT_MS = 5_000;

/**
 * Opens the endpoints whose probe was neither refused nor has failed in the time in which they refuse and fail. A provider
 * refuses at once and answers in minutes: all agents would otherwise wait for one whole answer.
 */
export function acceptProbes(agent: Agent, now: number): void {
  const { availability } = agent;
  if (now < availability.acceptAt) return;
  availability.acceptAt = Infinity;
  for (const entry of availability.entries.values()) {
    const at = acceptedAt(agent, entry, now);
    if (now >= at) accept(agent, entry, now);
    else availability.acceptAt = Math.min(availability.acceptAt, at);
  }
}

function accept(agent: Agent, entry: Entry, now: number): void {
  if (entry.local) {
    entry.local = undefined;
    entry.isContradicted = false;
    agent.availability.version++;
  }
  if (isOwnProbe(agent, entry.register) && isClosed(entry.register, now))
    open(agent, entry, { cause: "recovered", reason: "a call was accepted" }, now);
}

/** Time at which the running probe of this agent counts as accepted; Infinity without one, and for quotas and parks. */
function acceptedAt(agent: Agent, { register, local, evidence }: Entry, now: number): number {
  const probed = local ?? (isClosed(register, now) ? register : undefined);
  if (!probed || !isOwnProbe(agent, probed) || probed.state === "parked" || !probed.isProbed) return Infinity;
  const refusalMs = Math.max(probed.refusalMs, evidence.refusalMs);
  const acceptMs = refusalMs > 0 ? Math.max(LEAST_ACCEPT_MS, OUTLIVED * refusalMs) : USUAL_ACCEPT_MS;
  return probed.probedAt + Math.min(PROBE_MS, acceptMs);
}

function isOwnProbe({ config }: Agent, { probes, prober }: Register): boolean {
  return probes > 0 && prober === config.id;
}
