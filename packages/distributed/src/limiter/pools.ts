import { InvalidCapacityError, InvalidConfigError, InvalidWindowError } from "@hivepace/core";
import { AMOUNT, isAmount } from "@hivepace/core/internal";
import type { Agent } from "../engine/agent.ts";
import { addTo, isZero } from "../engine/amounts.ts";
import type { LevelRules } from "../engine/level.ts";
import { countMembers } from "../engine/members.ts";
import { newPool, type Pool, type PoolConfig } from "../engine/pool.ts";
import { BINS } from "../engine/use-window.ts";
import { LONGEST_NAME } from "../wire/subjects.ts";
import type { Settings } from "./config.ts";

/** How far beyond the configured capacity a level may recover that has no other bound. */
const MOST_RECOVERY = 2;
/** So many removed resources are remembered. */
const MOST_REMEMBERED = 10_000;

/** Throws what is wrong with a limit, or says what the engine has to know of it. */
export function poolConfig(
  settings: Settings,
  name: string,
  capacity: number,
  windowMs: number,
  burst: number | undefined,
): PoolConfig {
  const isName = typeof name === "string" && name.length >= 1 && name.length <= LONGEST_NAME;
  if (!isName) throw new InvalidConfigError("resource", `a string of 1 to ${LONGEST_NAME} characters`, name);
  if (!isAmount(capacity)) throw new InvalidCapacityError("capacity", AMOUNT, capacity);
  if (!isAmount(windowMs)) throw new InvalidWindowError("windowMs", AMOUNT, windowMs);
  if (burst !== undefined && !isAmount(burst)) throw new InvalidCapacityError("burst", AMOUNT, burst);
  const held = wholeLimit(capacity, windowMs);
  const least = Math.min(1, settings.minCapacity / held.limit);
  const rules = rulesOf(settings, held.windowMs, least);
  return {
    name,
    limits: [held.limit],
    windowMs: held.windowMs,
    burst: burst === undefined ? undefined : [burst],
    rules,
  };
}

/** A limit below one would never allow a call: it is held as one in a longer window. */
export function wholeLimit(limit: number, windowMs: number): { readonly limit: number; readonly windowMs: number } {
  return limit < 1 ? { limit: 1, windowMs: Math.ceil(windowMs / limit - 1e-6) } : { limit, windowMs };
}

/** How a limit is cut and recovers. */
export function rulesOf(settings: Settings, windowMs: number, least: number): LevelRules {
  const { reduceFactor, recoveryFactor, recoveryIntervalMs, maxRecovery, cooldownMs = windowMs } = settings;
  const most = maxRecovery ? 1 : MOST_RECOVERY;
  return { reduceFactor, recoveryFactor, recoveryIntervalMs, most, cooldownMs, least };
}

/** An agent's pools as resources come, change and go. What was used stays used in all of it. */
export class Pools {
  readonly #agent: Agent;
  /** What was counted for resources that were removed: others know these sums, and they never go back. */
  readonly #counted = new Map<string, Pick<Pool, "sent" | "back">>();
  readonly #removed = new Set<string>();

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  set(config: PoolConfig, now: number): Pool {
    const { pools } = this.#agent;
    this.#removed.delete(config.name);
    const known = pools.get(config.name);
    let pool = known;
    if (!pool) {
      pool = newPool(config);
      const counted = this.#counted.get(config.name);
      if (counted) count(pool, counted);
    } else if (pool.config.windowMs === config.windowMs) pool.config = config;
    else pool = withWindow(pool, config, now);
    pools.set(config.name, pool);
    countMembers(this.#agent);
    return pool;
  }

  /** Its use must still be told for a while: it goes when that is over. */
  remove(name: string): void {
    this.#removed.add(name);
  }

  /** Lets go of those that were removed and of which there is nothing left to say. */
  sweep(now: number): void {
    for (const name of this.#removed) {
      const pool = this.#agent.pools.get(name);
      if (pool && now - pool.changedAt < 2 * pool.config.windowMs) continue;
      this.#removed.delete(name);
      if (!pool) continue;
      this.#agent.pools.delete(name);
      if (!isZero(pool.sent)) this.#remember(name, pool);
    }
  }

  #remember(name: string, { sent, back }: Pool): void {
    this.#counted.delete(name);
    this.#counted.set(name, { sent, back });
    const [oldest] = this.#counted.keys();
    if (this.#counted.size > MOST_REMEMBERED && oldest !== undefined) this.#counted.delete(oldest);
  }
}

/** The same pool over a window of another length: what lies within it of what was used. */
function withWindow(old: Pool, config: PoolConfig, now: number): Pool {
  const pool = newPool(config);
  count(pool, old);
  const binMs = old.config.windowMs / BINS;
  for (const window of ["used", "own"] as const) {
    old[window].expire(now);
    old[window].bins(now).forEach((bin, b) => {
      if (!isZero(bin)) pool[window].add(now - b * binMs, bin);
    });
    pool[window].expire(now);
  }
  pool.level = old.level;
  pool.levelKnownAt = old.levelKnownAt;
  Object.assign(pool.turns, old.turns);
  pool.claimCount = old.claimCount;
  pool.changedAt = now;
  return pool;
}

function count(pool: Pool, { sent, back }: Pick<Pool, "sent" | "back">): void {
  addTo(pool.sent, sent);
  addTo(pool.back, back);
}
