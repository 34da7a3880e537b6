import { type Agent, ignore } from "../agent.ts";
import { type Evidence, newEvidence } from "./evidence.ts";
import { AVAILABLE, isClosed, type Register } from "./register.ts";

/** Bounds the state that requests and messages can create. */
export const MOST_ENTRIES = 1_000;

/** The availability of one endpoint, or of one of its models, as this agent knows it. */
export interface Entry {
  readonly endpoint: string;
  /** The model; undefined for the endpoint as a whole. */
  readonly model: string | undefined;
  /** The register that all agents share. */
  register: Register;
  /** A circuit breaker of this agent alone, for an endpoint that works for other agents but not for this one. */
  local: Register | undefined;
  /** This agent has opened the shared circuit breaker and has not succeeded since. */
  hasOpened: boolean;
  /** Another agent has succeeded meanwhile, so further failures concern this agent alone. */
  isContradicted: boolean;
  readonly evidence: Evidence;
  /** An epoch too far ahead to accept from one message, and when it was first received. */
  farAhead: { readonly epoch: number; readonly since: number } | undefined;
  /** Time at which this agent learned of the present state. */
  knownAt: number;
  /** Time of the next report of the entry, and the number of retransmissions after it. */
  dueAt: number;
  repeats: number;
  reportedAt: number;
}

/** An agent's knowledge of the availability of all endpoints. */
export interface Availability {
  /** The entries by `entryKey`, in the order of their latest change. */
  readonly entries: Map<string, Entry>;
  /** Earliest `dueAt` of all entries. */
  dueAt: number;
  /** Number of changes of any entry. Readers compare the version to detect changes. */
  version: number;
  /** The earliest time at which a probe of this agent that is still under way counts as accepted. */
  acceptAt: number;
  /** Time until which at least one entry ranks behind others in routing. */
  troubledUntil: number;
}

export function newAvailability(): Availability {
  return { entries: new Map(), dueAt: Infinity, version: 0, acceptAt: Infinity, troubledUntil: -Infinity };
}

export function entryKey(endpoint: string, model: string | undefined): string {
  return model === undefined ? endpoint : `${endpoint}\0${model}`;
}

export function findEntry(agent: Agent, endpoint: string, model: string | undefined): Entry | undefined {
  return agent.availability.entries.get(entryKey(endpoint, model));
}

/** Returns the entry, and creates a missing one. Undefined when the maximum is reached and no entry can be dropped. */
export function useEntry(agent: Agent, endpoint: string, model: string | undefined, now: number): Entry | undefined {
  const { entries } = agent.availability;
  const key = entryKey(endpoint, model);
  const known = entries.get(key);
  if (known) return known;
  if (entries.size >= MOST_ENTRIES && !dropOne(entries, now)) {
    ignore(agent, "too many endpoints and models");
    return undefined;
  }
  const entry: Entry = {
    endpoint,
    model,
    register: AVAILABLE,
    local: undefined,
    hasOpened: false,
    isContradicted: false,
    evidence: newEvidence(),
    farAhead: undefined,
    knownAt: -Infinity,
    dueAt: Infinity,
    repeats: 0,
    reportedAt: -Infinity,
  };
  entries.set(key, entry);
  return entry;
}

/** Number of entries that are examined to make space for a new one. */
const LOOKED_AT = 8;

/** Drops an entry that closes no endpoint. */
function dropOne(entries: Map<string, Entry>, now: number): boolean {
  let looked = 0;
  for (const [key, entry] of entries) {
    entries.delete(key);
    if (!isClosed(entry.register, now) && !entry.local) return true;
    entries.set(key, entry);
    if (++looked >= LOOKED_AT) return false;
  }
  return false;
}
