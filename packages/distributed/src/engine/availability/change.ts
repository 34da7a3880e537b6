import type { Agent } from "../agent.ts";
import type { Entry } from "./entries.ts";
import { resetEvidence } from "./evidence.ts";
import { AVAILABLE, type AvailabilityCause, type Register } from "./register.ts";
import { decayedCount, waitOf } from "./waits.ts";

/** Number of retransmissions of a change, in case a message is lost. */
const REPEATS = 2;

type Change = Pick<Register, "state" | "cause" | "count" | "since" | "waitMs" | "isProbed" | "refusalMs" | "reason">;

/** Replaces the shared register by one of a new epoch, and announces the change to all agents. */
export function change(agent: Agent, entry: Entry, next: Change, now: number, origin = agent.config.id): void {
  const { epoch } = entry.register;
  const idle = { probes: 0, prober: "", probedAt: -Infinity };
  adopt(agent, entry, { ...next, ...idle, epoch: epoch + 1, changedAt: now, origin }, now);
  announceEntry(agent, entry, now, REPEATS);
}

/** Replaces the shared register. */
export function adopt(agent: Agent, entry: Entry, register: Register, now: number): void {
  const { epoch } = entry.register;
  entry.register = register;
  if (register.epoch !== epoch) {
    entry.knownAt = now;
    resetEvidence(entry.evidence);
  }
  agent.availability.version++;
}

/** Schedules a report of the entry as soon as the gap between messages allows it. */
export function announceEntry(agent: Agent, entry: Entry, now: number, repeats: number): void {
  const { availability, config, link } = agent;
  entry.dueAt = Math.min(entry.dueAt, Math.max(now, link.publishedAt + config.tuning.gapMs));
  entry.repeats = Math.max(entry.repeats, repeats);
  availability.dueAt = Math.min(availability.dueAt, entry.dueAt);
}

/** Minimum time between two reports of trouble in the whole swarm: frequent overload must not flood the bus. */
const TROUBLE_MS = 10;

/** Reports the latest answers to peers soon, so that the swarm detects a broken endpoint together. */
export function announceTrouble(agent: Agent, entry: Entry, now: number): void {
  const { membership, config } = agent;
  if (!config.hasBus || membership.members <= 1) return;
  announceEntry(agent, entry, Math.max(now, entry.reportedAt + membership.members * TROUBLE_MS), 0);
}

/** Closes an endpoint after trouble that this agent met. `retryAfterMs` is the wait that the provider requested. */
export function close(
  agent: Agent,
  entry: Entry,
  state: Exclude<Register["state"], "available">,
  { cause, reason, retryAfterMs = 0 }: { cause: AvailabilityCause; reason: string; retryAfterMs?: number | undefined },
  now: number,
): void {
  const isLocal = state === "broken" && (entry.isContradicted || entry.local !== undefined);
  const before = isLocal ? (entry.local ?? AVAILABLE) : entry.register;
  const isProbe = cause === "probe-failed";
  const count = (before.state === state || before.state === "available" ? decayedCount(before, now) : 0) + 1;
  const since = isProbe ? before.since : now;
  const ownMs = waitOf(state, count);
  const waitMs = state === "parked" ? retryAfterMs || ownMs : Math.max(ownMs, retryAfterMs);
  // Another agent may know only quick refusals.
  const knownMs = isProbe ? before.refusalMs : 0;
  const refusalMs = Math.max(knownMs, entry.evidence.refusalMs);
  const next = { state, cause, count, since, waitMs, isProbed: true, refusalMs, reason };
  if (!isLocal) {
    change(agent, entry, next, now);
    if (state === "broken") entry.hasOpened = true;
    return;
  }
  const idle = { probes: 0, prober: "", probedAt: -Infinity };
  entry.local = { ...next, ...idle, epoch: before.epoch + 1, changedAt: now, origin: agent.config.id };
  entry.knownAt = now;
  resetEvidence(entry.evidence);
  agent.availability.version++;
}

/** Opens the endpoint for all agents. */
export function open(
  agent: Agent,
  entry: Entry,
  { cause, reason, by }: { cause: "recovered" | "unparked"; reason: string; by?: string | undefined },
  now: number,
): void {
  const { register } = entry;
  // Less than halved, so that random overload with successes in between does not lengthen the pauses.
  const count = cause === "unparked" ? 0 : Math.max(0, Math.floor((register.count - 1) / 2));
  const next = {
    state: "available",
    cause,
    count,
    since: now,
    waitMs: 0,
    isProbed: false,
    refusalMs: 0,
    reason,
  } as const;
  change(agent, entry, next, now, by);
}

/** Allows the next probe at once, because the call that was to probe was never sent. */
export function releaseProbe(agent: Agent, entry: Entry, now: number): void {
  const { origin } = entry.register;
  change(agent, entry, { ...entry.register, waitMs: 0 }, now, origin);
}
