import { hash32 } from "../../hash.ts";
import type { Agent } from "../agent.ts";
import { type Entry, entryKey, findEntry } from "./entries.ts";
import { closedUntil, isClosed, PROBE_MS, type Register } from "./register.ts";
import { impatientWait } from "./waits.ts";

/** Longest time between the turns of two agents to probe. */
const TURN_MS = 150;
const LEAST_TRANSIT_MS = 10;
const MOST_TURNS = 12;

/** Time between the turns of two agents to probe: longer than the announcement of a probe takes to arrive. */
function turnMs({ config, link }: Agent): number {
  const { echoedSeq, delay } = link;
  const isMeasured = config.echoes && echoedSeq > 0;
  const { swarmMs } = delay;
  return !isMeasured ? TURN_MS : Math.min(TURN_MS, config.tuning.gapMs + Math.max(LEAST_TRANSIT_MS, swarmMs));
}

/** An obstacle to calls to an endpoint, or to a model of it. */
export interface AvailabilityReading {
  readonly register: Register;
  /** The model concerned; undefined for the whole endpoint. */
  readonly model: string | undefined;
  /** Only this agent is affected: the endpoint works for others. */
  readonly isLocal: boolean;
  /** Time until the next call may be sent; 0 when this agent may probe now, Infinity when the time is unknown. */
  readonly waitMs: number;
  /** Another call probes the endpoint at present. */
  readonly isProbing: boolean;
}

/**
 * Returns the obstacle with the longest wait for calls to this endpoint and model; undefined when they are available.
 * Calls that can use another endpoint (`hasOther`) wait for the whole closure; all others may probe earlier.
 */
export function readAvailability(
  agent: Agent,
  endpoint: string,
  model: string | undefined,
  now: number,
  hasOther = false,
): AvailabilityReading | undefined {
  // Version 0: no entry has ever changed.
  if (agent.availability.version === 0) return undefined;
  const whole = readEntry(agent, findEntry(agent, endpoint, undefined), hasOther, now);
  if (model === undefined) return whole;
  const ofModel = readEntry(agent, findEntry(agent, endpoint, model), hasOther, now);
  return ofModel && (!whole || ofModel.waitMs > whole.waitMs) ? ofModel : whole;
}

function readEntry(
  agent: Agent,
  entry: Entry | undefined,
  hasOther: boolean,
  now: number,
): AvailabilityReading | undefined {
  if (!entry) return undefined;
  const { register, local } = entry;
  const shared = isClosed(register, now) ? readRegister(agent, entry, register, false, hasOther, now) : undefined;
  if (!local) return shared;
  const own = readRegister(agent, entry, local, true, hasOther, now);
  return shared && shared.waitMs > own.waitMs ? shared : own;
}

function readRegister(
  agent: Agent,
  entry: Entry,
  register: Register,
  isLocal: boolean,
  hasOther: boolean,
  now: number,
): AvailabilityReading {
  const { model } = entry;
  const until = probeAt(register, hasOther);
  if (now < until) return { register, model, isLocal, waitMs: until - now, isProbing: false };
  const probeEndsAt = register.probes > 0 ? register.probedAt + PROBE_MS : -Infinity;
  const isProbing = now < probeEndsAt;
  const from = Math.max(until, probeEndsAt);
  // Computed only where the turn matters, because the rank costs a search among all peers.
  const turnAt = isLocal || isProbing ? from : from + turnMs(agent) * turnOf(agent, entry);
  return { register, model, isLocal, waitMs: Math.max(0, turnAt - now), isProbing };
}

/** The earliest time of the next probe. */
export function probeAt(register: Register, hasOther: boolean): number {
  const until = closedUntil(register);
  return hasOther || until === Infinity ? until : register.changedAt + impatientWait(register);
}

/** This agent's rank among the live agents that may probe. Each epoch has another order. */
function turnOf({ config, membership }: Agent, { endpoint, model, register }: Entry): number {
  if (membership.members <= 1) return 0;
  const seed = hash32(`${entryKey(endpoint, model)} ${register.epoch} ${register.probes}`);
  const own = hash32(config.id, seed);
  let rank = 0;
  for (const peer of membership.newest.values())
    if (peer.state === "live" && hash32(peer.id, seed) < own && ++rank >= MOST_TURNS) break;
  return rank;
}

/**
 * Returns 1 while the latest answers of an endpoint were trouble, so that routing prefers other endpoints; otherwise 0.
 */
export function troubleRank(agent: Agent, endpoint: string, model: string | undefined, now: number): 0 | 1 {
  const isSuspect = (entry: Entry | undefined) => entry !== undefined && now < entry.evidence.suspectUntil;
  if (now >= agent.availability.troubledUntil) return 0;
  const ofModel = model === undefined ? undefined : findEntry(agent, endpoint, model);
  return isSuspect(findEntry(agent, endpoint, undefined)) || isSuspect(ofModel) ? 1 : 0;
}

/** The earliest time at which a closed endpoint opens by time alone; Infinity when none does. */
export function nextOpeningAt(agent: Agent, now: number): number {
  let next = Infinity;
  for (const { register } of agent.availability.entries.values())
    if (isClosed(register, now) && !register.isProbed) next = Math.min(next, closedUntil(register));
  return next;
}
