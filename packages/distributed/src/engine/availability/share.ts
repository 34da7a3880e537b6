import { hash32 } from "../../hash.ts";
import { type Agent, ignore, type Peer } from "../agent.ts";
import { EPOCHS_AHEAD } from "../level.ts";
import { countPeerSigns } from "./answers.ts";
import { adopt, announceEntry, change } from "./change.ts";
import { type Entry, entryKey, MOST_ENTRIES, useEntry } from "./entries.ts";
import type { Sign } from "./evidence.ts";
import { closedUntil, isClosed, LONGEST_PARK_MS, mergeRegisters, type Register, withRegisterAges } from "./register.ts";
import { boundedRegister, longestForeignMs } from "./trust.ts";

/** The availability of one endpoint or model in a message, with ages instead of times. */
export interface AvailabilityReport {
  readonly endpoint: string;
  readonly model: string | undefined;
  /** The shared register; undefined when it has never changed. */
  readonly register: Register | undefined;
  /** The latest answers that the sender received while it met trouble, oldest first, and their number since its start. */
  readonly answers: { readonly signs: readonly Sign[]; readonly count: number } | undefined;
}

/** Maximum number of reports in one message. */
const MOST_REPORTS = 200;
/** Number of heartbeats for which an epoch far ahead must be repeated before it is accepted. */
const CREDIBLE_AFTER = 2;

/**
 * The reports of a message that is published now. A heartbeat repeats the endpoints that are closed or have changed
 * recently.
 */
export function availabilityReports(agent: Agent, isHeartbeat: boolean, now: number): AvailabilityReport[] | undefined {
  const { availability, config } = agent;
  if (availability.entries.size === 0 || (now < availability.dueAt && !isHeartbeat)) return undefined;
  const { heartbeatMs, repeatMs } = config.tuning;
  const reports: AvailabilityReport[] = [];
  availability.dueAt = Infinity;
  for (const entry of availability.entries.values()) {
    const { register, endpoint, model } = entry;
    const isTroubled = now - entry.evidence.troubledAt < 3 * heartbeatMs && !entry.isContradicted;
    const isRelevant = isTroubled || isClosed(register, now) || now - register.changedAt < 3 * heartbeatMs;
    const isTime = entry.dueAt <= now || (isHeartbeat && isRelevant);
    if (isTime && reports.length < MOST_REPORTS) {
      const { own, count } = entry.evidence;
      reports.push({
        endpoint,
        model,
        register: register.epoch > 0 ? withRegisterAges(register, now) : undefined,
        answers: isTroubled ? { signs: [...own], count } : undefined,
      });
      entry.reportedAt = now;
      entry.dueAt = entry.repeats > 0 ? now + repeatMs : Infinity;
      entry.repeats = Math.max(0, entry.repeats - 1);
    }
    availability.dueAt = Math.min(availability.dueAt, entry.dueAt);
  }
  return reports.length > 0 ? reports : undefined;
}

/**
 * Merges the reports of a peer; without a peer, only their registers. Returns true when they change this agent's state.
 */
export function receiveAvailability(
  agent: Agent,
  peer: Peer | undefined,
  reports: readonly AvailabilityReport[],
  now: number,
): boolean {
  const { version } = agent.availability;
  for (const { endpoint, model, register, answers } of reports) {
    const entry = useEntry(agent, endpoint, model, now);
    if (!entry) continue;
    if (register) receiveRegister(agent, entry, register, now);
    const isSameEpoch = (register?.epoch ?? 0) === entry.register.epoch;
    if (peer && answers) receiveAnswers(agent, peer, entry, answers, isSameEpoch, now);
  }
  return agent.availability.version !== version;
}

/** Counts the new answers of a peer. For a peer that has not reported answers before, only the latest can be new. */
function receiveAnswers(
  agent: Agent,
  peer: Peer,
  entry: Entry,
  { signs, count }: NonNullable<AvailabilityReport["answers"]>,
  isSameEpoch: boolean,
  now: number,
): void {
  const key = entryKey(entry.endpoint, entry.model);
  const known = peer.answers.get(key) ?? count - 1;
  if (!peer.answers.has(key) && peer.answers.size >= MOST_ENTRIES) return;
  peer.answers.set(key, count);
  const fresh = Math.min(signs.length, Math.max(0, count - known));
  if (fresh > 0 && isSameEpoch) countPeerSigns(agent, entry, signs.slice(-fresh), now);
}

function receiveRegister(agent: Agent, entry: Entry, register: Register, now: number): void {
  const before = entry.register;
  const received = boundedRegister(agent, withRegisterAges(register, now));
  if (!isCredible(agent, entry, received.epoch, now)) {
    ignore(agent, "epoch far ahead");
    return;
  }
  const merged = mergeRegisters(before, received);
  if (merged === before) {
    // The sender has missed a change, which a few agents repeat.
    const isBehind = received.epoch < before.epoch && now - entry.reportedAt > agent.config.tuning.heartbeatMs / 2;
    if (isBehind && isOneOfFew(agent, entry)) announceEntry(agent, entry, now, 0);
    return;
  }
  const { id } = agent.config;
  const isOwnNews = before.origin === id && isClosed(before, now) && received.changedAt < before.changedAt;
  if (isOwnNews && received.state === "available" && merged === received) {
    // This agent had missed earlier changes, so its epoch was too low. Its own finding is newer all the same.
    entry.register = { ...before, epoch: received.epoch };
    change(agent, entry, before, now);
    return;
  }
  if (entry.hasOpened && merged.state === "available" && merged.origin !== id) entry.isContradicted = true;
  adopt(agent, entry, merged, now);
  const isNews = merged.epoch !== before.epoch || merged.probes !== before.probes;
  if (isNews && isOneOfFew(agent, entry)) announceEntry(agent, entry, now + agent.config.tuning.gapMs / 2, 0);
}

/** True for the few agents that relay a change, in case the original message was lost. */
function isOneOfFew({ config, membership }: Agent, { register, endpoint }: Entry): boolean {
  const fraction = hash32(`${config.id} ${endpoint} ${register.epoch} ${register.probes}`) / 2 ** 32;
  return fraction * membership.members < 4;
}

/** True when an epoch may be accepted: a forged one far ahead would separate this agent from all honest ones. */
function isCredible(agent: Agent, entry: Entry, epoch: number, now: number): boolean {
  const isFar = (from: number) => epoch > from + EPOCHS_AHEAD;
  if (!isFar(entry.register.epoch)) {
    entry.farAhead = undefined;
    return true;
  }
  const { farAhead } = entry;
  if (!farAhead || epoch < farAhead.epoch || isFar(farAhead.epoch)) {
    entry.farAhead = { epoch, since: now };
    return false;
  }
  return now - farAhead.since >= CREDIBLE_AFTER * agent.config.tuning.heartbeatMs;
}

/** Reports closed endpoints to a newcomer, at a different time for each agent. */
export function welcomeWithAvailability(agent: Agent, newcomer: string, now: number): void {
  for (const entry of agent.availability.entries.values()) {
    if (!isClosed(entry.register, now) || !isOneOfFew(agent, entry)) continue;
    const fraction = hash32(`${agent.config.id} ${newcomer}`) / 2 ** 32;
    announceEntry(agent, entry, now + (fraction * agent.config.tuning.heartbeatMs) / 4, 0);
  }
}

/**
 * Renews this agent's parks. Peers accept an unsigned message that closes an endpoint for one window only, so the agent
 * repeats the park before that time is over, for as long as the park lasts.
 */
export function renewParks(agent: Agent, now: number): void {
  const { config, availability, membership } = agent;
  if (config.isSigned || !config.hasBus || membership.members <= 1) return;
  const longestMs = longestForeignMs(agent);
  for (const entry of availability.entries.values()) {
    const { register } = entry;
    if (register.state !== "parked" || register.origin !== config.id || !isClosed(register, now)) continue;
    const leftMs = closedUntil(register) - now;
    if (now - register.changedAt < longestMs / 2 || !(leftMs > 0)) continue;
    change(agent, entry, { ...register, waitMs: leftMs === Infinity ? LONGEST_PARK_MS : leftMs }, now);
  }
}
