import type { CapacityUpdate } from "@hivepace/core";
import type { Agent } from "../engine/agent.ts";
import { at } from "../engine/amounts.ts";
import { type Level, nextStepAt } from "../engine/level.ts";
import type { Pool } from "../engine/pool.ts";
import { agentOf } from "../wire/capacity.ts";
import { totalOf } from "./total.ts";

interface Seen {
  readonly level: Level;
  readonly limit: number;
  readonly total: number;
  readonly burst: number;
}

/** What can have another capacity than before. */
export interface Watched {
  readonly name: string;
  readonly pool: Pool;
  readonly burst: number;
  /** The limit or the level is another. */
  changed(now: number): void;
}

type Change = Pick<CapacityUpdate, "resource" | "agentId" | "newCapacity" | "reason">;

/** Notices when a capacity has become another, and tells it: by a cut, a step of recovery, or another agent's limit. */
export class CapacityWatch {
  readonly #agent: Agent;
  readonly #seen = new Map<Watched, Seen>();
  readonly #tell: (change: Change) => void;

  constructor(agent: Agent, tell: (change: Change) => void) {
    this.#agent = agent;
    this.#tell = tell;
  }

  /** From here on; what it is now needs no telling. */
  add(resource: Watched, now: number): void {
    this.#seen.set(resource, this.#see(resource, now));
  }

  remove(resource: Watched): void {
    this.#seen.delete(resource);
  }

  /** Looks at all of them. Returns when the next one will change by itself. */
  look(now: number): number {
    let next = Infinity;
    for (const [resource, before] of this.#seen) {
      next = Math.min(next, nextStepAt(resource.pool.level, now));
      const seen = this.#see(resource, now);
      if (isSame(seen, before)) continue;
      this.#seen.set(resource, seen);
      resource.changed(now);
      const cause = this.#cause(resource.pool, before, seen);
      if (cause) this.#tell({ resource: resource.name, newCapacity: seen.total, ...cause });
    }
    return next;
  }

  #see({ pool, burst }: Watched, now: number): Seen {
    const limit = at(pool.limits, pool.config.main ?? 0);
    return { level: pool.level, limit, total: totalOf(pool, now), burst };
  }

  #cause(pool: Pool, before: Seen, seen: Seen): Pick<CapacityUpdate, "agentId" | "reason"> | undefined {
    const { level } = seen;
    if (level.epoch !== before.level.epoch || level.base !== before.level.base)
      return { agentId: agentOf(level.origin), reason: level.reason };
    if (seen.limit !== before.limit) return { agentId: this.#smallest(pool), reason: "agents have different limits" };
    return seen.total === before.total ? undefined : { agentId: this.#agent.config.id, reason: "recovery" };
  }

  /** Who has configured the limit that counts. */
  #smallest({ config, limits }: Pool): string {
    const { name, main = 0 } = config;
    for (const peer of this.#agent.peers.values())
      if (peer.state === "live" && peer.pools.get(name)?.limits[main] === at(limits, main)) return peer.id;
    return this.#agent.config.id;
  }
}

function isSame(a: Seen, b: Seen): boolean {
  return a.level === b.level && a.total === b.total && a.burst === b.burst;
}
