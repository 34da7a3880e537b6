import type { CapacityUpdate, EventOrigin, LevelEvent } from "@hivepace/core";
import { level as levelChannel } from "@hivepace/core/internal";
import {
  type Agent,
  type Amounts,
  at,
  isEqual,
  type Level,
  levelAt,
  nextStepAt,
  pausedUntil,
  type Quota,
} from "../engine/index.ts";
import { agentOf } from "../wire/capacity.ts";
import { totalOf } from "./total.ts";

interface Seen {
  readonly level: Level;
  /** The level as a fraction of the limit, 0 to 1. */
  readonly part: number;
  /** The limits of all dimensions, and the limit of the main one. */
  readonly limits: Amounts;
  readonly limit: number;
  readonly total: number;
  readonly burst: number;
}

/** A resource whose capacity may change. */
export interface Watched {
  readonly name: string;
  /** The name that programs use, if it differs. */
  readonly resource?: string | undefined;
  readonly model?: string | undefined;
  readonly quota: Quota;
  readonly burst: number;
  /** Called when the limit or the level has changed. */
  changed(now: number): void;
}

type Change = Pick<CapacityUpdate, "resource" | "agentId" | "newCapacity" | "reason">;

/** Detects and reports changes of capacity: cuts, recovery steps, and limits of other agents. */
export class CapacityWatch {
  readonly #agent: Agent;
  readonly #origin: EventOrigin;
  readonly #seen = new Map<Watched, Seen>();
  readonly #notify: (change: Change) => void;
  /** The engine's version at the last comparison, and the time of the next change by time alone. */
  #version = -1;
  #nextAt = Infinity;
  #isLooking = false;

  constructor(agent: Agent, origin: EventOrigin, notify: (change: Change) => void) {
    this.#agent = agent;
    this.#origin = origin;
    this.#notify = notify;
  }

  /** Starts to watch a resource. Its present capacity is not reported. */
  add(resource: Watched, now: number): void {
    this.#seen.set(resource, this.#see(resource, now));
    // The level of the resource may be recovering.
    this.#version = -1;
  }

  remove(resource: Watched): void {
    this.#seen.delete(resource);
  }

  /** Reports the changes of all resources. Returns the time of the next change by recovery. */
  look(now: number): number {
    const { capacityVersion } = this.#agent.agenda;
    if (capacityVersion === this.#version && now < this.#nextAt) return this.#nextAt;
    // A notified resource serves its waiters, and each of them looks again. While a capacity grows with time, every look
    // finds a change, so that they would nest without end. The next wake looks instead.
    if (this.#isLooking) return now;
    this.#isLooking = true;
    try {
      this.#version = capacityVersion;
      this.#nextAt = this.#compare(now);
    } finally {
      this.#isLooking = false;
    }
    return this.#nextAt;
  }

  #compare(now: number): number {
    let next = Infinity;
    for (const [resource, before] of this.#seen) {
      next = Math.min(next, nextStepAt(resource.quota.backoff.level, now));
      const seen = this.#see(resource, now);
      if (isSame(seen, before)) continue;
      this.#seen.set(resource, seen);
      resource.changed(now);
      const cause = this.#cause(resource.quota, before, seen);
      if (levelChannel.hasSubscribers) this.#publish(resource, before, seen, cause, now);
      if (cause) this.#notify({ resource: resource.name, newCapacity: seen.total, ...cause });
    }
    return next;
  }

  #see({ quota, burst }: Watched, now: number): Seen {
    const { config, backoff } = quota;
    const { level } = backoff;
    const limits = quota.limits.slice();
    const limit = at(limits, config.main ?? 0);
    return { level, part: levelAt(level, now), limits, limit, total: totalOf(quota, now), burst };
  }

  #cause(quota: Quota, before: Seen, seen: Seen): Pick<CapacityUpdate, "agentId" | "reason"> | undefined {
    const { level } = seen;
    if (level.epoch !== before.level.epoch || level.levelAtCut !== before.level.levelAtCut)
      return { agentId: agentOf(level.origin), reason: level.reason };
    if (seen.limit !== before.limit) return { agentId: this.#smallest(quota), reason: "agents have different limits" };
    return seen.total === before.total ? undefined : { agentId: this.#agent.config.id, reason: "recovery" };
  }

  #publish(
    resource: Watched,
    before: Seen,
    seen: Seen,
    cause: Pick<CapacityUpdate, "agentId" | "reason"> | undefined,
    now: number,
  ): void {
    const kind = kindOf(before, seen, now);
    if (!kind) return;
    const { origin, reason } = seen.level;
    levelChannel.publish({
      ...this.#origin,
      resource: resource.resource ?? resource.name,
      model: resource.model,
      cause: kind,
      level: seen.part,
      before: before.part,
      total: seen.total,
      pausedForMs: Math.max(0, pausedUntil(seen.level) - now),
      by: cause?.agentId ?? agentOf(origin),
      reason: cause?.reason ?? reason,
    });
  }

  /** The agent with the smallest limit, which is the effective one. */
  #smallest({ config, limits }: Quota): string {
    const { name, main = 0 } = config;
    for (const peer of this.#agent.membership.peers.values())
      if (peer.state === "live" && peer.quotas.get(name)?.report.limits[main] === at(limits, main)) return peer.id;
    return this.#agent.config.id;
  }
}

/** The kind of change that the level channel reports; undefined for none. */
function kindOf(before: Seen, seen: Seen, now: number): LevelEvent["cause"] | undefined {
  if (seen.part < before.part) return "cut";
  if (seen.level.epoch !== before.level.epoch && seen.level.levelAtCut >= 1 && seen.part > before.part)
    return "restored";
  if (pausedUntil(seen.level) > Math.max(now, pausedUntil(before.level))) return "pause";
  if (seen.part > before.part) return "recovery";
  return seen.limit === before.limit ? undefined : "limit";
}

function isSame(a: Seen, b: Seen): boolean {
  return a.level === b.level && a.total === b.total && a.burst === b.burst && isEqual(a.limits, b.limits);
}
