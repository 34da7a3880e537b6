import { Heap, type HeapEntry } from "@hivepace/core/internal";
import type { Agent } from "./agent.ts";
import type { ModeName } from "./modes/mode.ts";
import type { Quota } from "./quota.ts";

/**
 * The quotas that have something to do, so that the work of an event depends on the quotas that it concerns and not on
 * all quotas of the agent. Every quota in it is one of the agent's.
 */
export interface Agenda {
  /** Quotas with waiting calls. The three records below contain only these. */
  readonly demanding: Set<Quota>;
  /** Quotas whose next try has to be computed again, because something that concerns them has changed. */
  readonly touched: Set<Quota>;
  /** Quotas whose next call may succeed now, and which the caller has been told to serve. */
  readonly ready: Set<Quota>;
  /** Time of the next try of all other quotas that have one. */
  readonly tries: Timetable;
  /** `Reporting.dueAt` of all quotas. */
  readonly reports: Timetable;
  /** Contains all quotas with an own claim, and all with own calls in slots. May contain others, which are dropped when found. */
  readonly holding: Set<Quota>;
  /** Latest `Reporting.changedAt` of all quotas. */
  changedAt: number;
  /** Longest window of all quotas; at least that, after the window of one was shortened. */
  longestWindowMs: number;
  /** True when the windows retain usage for the clock drift of other agents. */
  isRetaining: boolean;
  /** Counts changes of levels, limits and members, so that readers need not compare all quotas after every event. */
  capacityVersion: number;
  /** Mode of the agent at the latest wake that visited all quotas. */
  visitedMode: ModeName | undefined;
  /** The state of the agent when the tries were computed. A change concerns all of them. */
  readonly planned: { mode: ModeName | undefined; members: number; weights: number; echoedSeq: number };
}

export function newAgenda(): Agenda {
  return {
    demanding: new Set(),
    touched: new Set(),
    ready: new Set(),
    tries: new Timetable(),
    reports: new Timetable(),
    holding: new Set(),
    changedAt: -Infinity,
    longestWindowMs: 0,
    isRetaining: false,
    capacityVersion: 0,
    visitedMode: undefined,
    planned: { mode: undefined, members: 0, weights: 0, echoedSeq: 0 },
  };
}

/** Adds a quota to an agent, or replaces the one of the same name. */
export function addQuota({ quotas, agenda }: Agent, quota: Quota): void {
  const { name, windowMs } = quota.config;
  const known = quotas.get(name);
  if (known) forget(agenda, known);
  quotas.set(name, quota);
  agenda.capacityVersion++;
  agenda.longestWindowMs = Math.max(agenda.longestWindowMs, windowMs);
}

/** Removes a quota of an agent. */
export function removeQuota({ quotas, agenda }: Agent, quota: Quota): void {
  quotas.delete(quota.config.name);
  forget(agenda, quota);
  if (quota.config.windowMs < agenda.longestWindowMs) return;
  agenda.longestWindowMs = 0;
  for (const { config } of quotas.values()) agenda.longestWindowMs = Math.max(agenda.longestWindowMs, config.windowMs);
}

/** Notes that the next try of a quota has to be computed again. */
export function touch({ demanding, touched }: Agenda, quota: Quota): void {
  if (demanding.has(quota)) touched.add(quota);
}

/** Removes a quota without waiting calls. */
export function endDemand({ demanding, touched, ready, tries }: Agenda, quota: Quota): void {
  if (!demanding.delete(quota)) return;
  touched.delete(quota);
  ready.delete(quota);
  tries.set(quota, Infinity);
}

function forget(agenda: Agenda, quota: Quota): void {
  endDemand(agenda, quota);
  agenda.reports.set(quota, Infinity);
  agenda.holding.delete(quota);
}

/** True while any quota has an own claim or own calls in slots. */
export function isHolding({ holding }: Agenda): boolean {
  for (const quota of holding) {
    if (quota.claims.own !== undefined || (quota.slots && quota.slots.starts.length > 0)) return true;
    holding.delete(quota);
  }
  return false;
}

interface Entry {
  readonly quota: Quota;
  readonly time: number;
}

/** One time for each of some quotas, in the order of the times. */
export class Timetable {
  readonly #heap = new Heap<Entry>((a, b) => a.time < b.time);
  readonly #entries = new Map<Quota, HeapEntry<Entry>>();

  /** The earliest time; Infinity when there is none. */
  get next(): number {
    return this.#heap.first()?.time ?? Infinity;
  }

  /** Sets the time of a quota; Infinity removes the quota. */
  set(quota: Quota, time: number): void {
    const entry = this.#entries.get(quota);
    if (entry) {
      if (entry.item.time === time) return;
      this.#heap.remove(entry);
    }
    if (time < Infinity) this.#entries.set(quota, this.#heap.push({ quota, time }));
    else if (entry) this.#entries.delete(quota);
  }

  /** The time of a quota; Infinity when it has none. */
  timeOf(quota: Quota): number {
    return this.#entries.get(quota)?.item.time ?? Infinity;
  }

  /** Returns the quotas whose time has come, earliest first. */
  due(now: number): readonly Quota[] {
    const due = this.#shiftDue(now);
    for (const { quota, time } of due) this.set(quota, time);
    return due.map(({ quota }) => quota);
  }

  /** Removes and returns the quotas whose time has come, earliest first. */
  takeDue(now: number): readonly Quota[] {
    return this.next > now ? NONE : this.#shiftDue(now).map(({ quota }) => quota);
  }

  #shiftDue(now: number): Entry[] {
    const due: Entry[] = [];
    while (this.next <= now) {
      const entry = this.#heap.shift() as Entry;
      this.#entries.delete(entry.quota);
      due.push(entry);
    }
    return due;
  }
}

const NONE: readonly Quota[] = [];
