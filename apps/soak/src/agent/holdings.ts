import diagnostics from "node:diagnostics_channel";
import { EventEmitter, getEventListeners } from "node:events";
import type { Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import v8 from "node:v8";
import { channelNames } from "@hivepace/core";
import type { Holdings } from "../words.ts";
import type { Colony } from "./colony.ts";

/** Departed peers are kept for two windows and a minute, and removed with the next heartbeat. */
const FORGOTTEN_MS = 64_000;
/** The time that resources under closure get to disappear. */
const LONGEST_MS = 4_000;
const EVERY_MS = 150;
const FEWEST = 3;

/**
 * Samples the resources that the paused process holds and returns the minimum of each count, because some are always in
 * transition. Samples until no count exceeds `before`, or for at most `LONGEST_MS`.
 */
export async function holdings(colony: Colony, before: Holdings | undefined): Promise<Holdings> {
  const deadline = performance.now() + Math.min(LONGEST_MS, colony.task.patienceMs);
  let least: Record<string, number> | undefined;
  for (let samples = 1; ; samples++) {
    const now = await sample(colony);
    // A name that is missing in a sample counts as 0.
    const names = new Set([...Object.keys(now), ...Object.keys(least ?? now)]);
    least = Object.fromEntries([...names].map((name) => [name, lesser(name, now, least)]));
    const isCalm =
      before !== undefined && Object.entries(least).every(([name, count]) => isAsBefore(name, count, before));
    if (performance.now() > deadline || (isCalm && samples >= FEWEST)) return least;
    await pause(EVERY_MS);
  }
}

function lesser(name: string, now: Holdings, least: Holdings | undefined): number {
  return Math.min(now[name] ?? 0, least === undefined ? Infinity : (least[name] ?? 0));
}

/** Counts of timers and objects fluctuate, so the sampling does not wait for them. */
function isAsBefore(name: string, count: number, before: Holdings): boolean {
  return /^(memory|objects|handles Timeout)/.test(name) || count <= (before[name] ?? 0);
}

async function sample(colony: Colony): Promise<Holdings> {
  // Objects freed by the first collection may hold others through finalizers, which run in between.
  for (let i = 0; i < 2; i++) {
    globalThis.gc?.();
    await nextTurn();
  }
  return { ...memory(), ...handles(), ...listeners(colony), ...objects(), ...held(colony) };
}

function memory(): Holdings {
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return { "memory heap": heapUsed, "memory external": external, "memory array buffers": arrayBuffers };
}

function handles(): Holdings {
  const counts: Record<string, number> = {};
  // An immediate ends within the current turn, so it cannot leak.
  for (const type of process.getActiveResourcesInfo().filter((one) => one !== "Immediate"))
    counts[`handles ${type}`] = (counts[`handles ${type}`] ?? 0) + 1;
  return counts;
}

function listeners({ life, client }: Colony): Holdings {
  const channels = Object.values(channelNames).map((name) => diagnostics.channel(name));
  return {
    "listeners process": listenersOf(process),
    "listeners abort signal": getEventListeners(life.signal, "abort").length,
    "listeners sockets, most": Math.max(0, ...sockets().map(listenersOf)),
    "listeners lent client": client ? listenersOf(client) : 0,
    "listeners diagnostics": channels.filter(({ hasSubscribers }) => hasSubscribers).length,
  };
}

/** Node has no public access to a client's sockets. */
function sockets(): Socket[] {
  const all = (process as unknown as { _getActiveHandles(): unknown[] })._getActiveHandles();
  return all.filter((handle): handle is Socket => handle instanceof EventEmitter && "remoteAddress" in handle);
}

function listenersOf(emitter: EventEmitter): number {
  return emitter.eventNames().reduce((sum, event) => sum + emitter.listenerCount(event), 0);
}

/** Counts live objects of the classes that leaks accumulate; unreachable objects are not counted. */
function objects(): Holdings {
  const count = (v8 as { queryObjects?: (kind: unknown) => number }).queryObjects;
  if (!count) return {};
  return {
    "objects emitters": count(EventEmitter),
    "objects abort signals": count(AbortSignal),
  };
}

function held({ hive, limiter }: Colony): Holdings {
  const status = hive.status();
  const ofLimiter = limiter.status();
  const peers = [...status.peers, ...ofLimiter.peers];
  return {
    "hive members": status.members,
    "hive endpoints": status.endpoints.length,
    "hive leases": status.leases,
    "hive waiting": status.waiting,
    "hive in flight": status.endpoints.reduce((sum, { inFlight }) => sum + inFlight, 0),
    "hive peers that are overdue": peers.filter(
      (one) => one.state !== "live" && one.lastMessageAgoMs > FORGOTTEN_MS + 10_000,
    ).length,
    "limiter members": ofLimiter.members,
    "limiter resources": ofLimiter.resources.length,
    "limiter waiting": ofLimiter.resources.reduce((sum, { waiting }) => sum + waiting, 0),
  };
}
