import {
  type Agent,
  type Effects,
  type Event,
  isLater,
  type Level,
  type Quota,
  violatedInvariant,
} from "../engine/index.ts";

/** Number of agents up to which all invariants are checked after every step. In larger swarms the slow ones are sampled. */
const SMALL = 10;

/** Facts of the simulated world that no agent can know. */
export interface LawsOptions {
  readonly agents: number;
  /** Longest transit time of a message, including a suspension of its reader. */
  readonly transitMs: number;
  /** Largest clock drift, as a fraction. */
  readonly drift: number;
}

/** Checks every agent after every step: the engine's invariants, and laws that need the world's time. Throws on a violation. */
export class Laws {
  readonly #options: LawsOptions;
  /** The slow invariants are checked once per this many steps. */
  readonly #sampleEvery: number;
  readonly #levels = new WeakMap<Quota, Level>();
  /** World times of each cut. A cut may be made again when all agents that knew the first one are gone. */
  readonly #cuts = new Map<string, number[]>();
  #steps = 0;
  #wakes = 0;

  constructor(options: LawsOptions) {
    this.#options = options;
    // A larger swarm has slower checks and more steps.
    this.#sampleEvery = Math.ceil(options.agents / SMALL) ** 2;
  }

  check(agent: Agent, event: Event, effects: Effects, now: number, worldNow: number): void {
    const violated = this.#violated(agent, event, effects, now, worldNow);
    if (violated) throw new Error(`${agent.config.id}: ${violated} (at ${now}, after ${event.type})`);
  }

  #violated(agent: Agent, event: Event, effects: Effects, now: number, worldNow: number): string | undefined {
    if (agent.membership.peers.size > 4 * this.#options.agents + 16) return "departed agents are forgotten";
    const isBus = !agent.store;
    const claims = isBus && ++this.#steps % this.#sampleEvery === 0;
    const agreement = isBus && event.type === "wake" && ++this.#wakes % this.#sampleEvery === 0;
    const violated = violatedInvariant(agent, event, effects, { claims, agreement }, now);
    if (violated) return violated;
    for (const quota of agent.quotas.values()) {
      const wrong = this.#violatedByLevel(quota, event, now, worldNow);
      if (wrong) return wrong;
    }
    return undefined;
  }

  #violatedByLevel(quota: Quota, event: Event, now: number, worldNow: number): string | undefined {
    const before = this.#levels.get(quota);
    const { level } = quota.backoff;
    if (before === level) return undefined;
    if (before && isLater(before, level)) return "a level is never replaced by an earlier one";
    this.#levels.set(quota, level);
    const isOwnCut = event.type === "refused" && level.cutAt === now;
    return this.#isCutInTime(level, isOwnCut, now, worldNow)
      ? undefined
      : "a cut has the same age at all agents, apart from transit times";
  }

  /**
   * Agents with equal cut ages are at the same recovery step: none is earlier, and none is later by more than a
   * message's transit time.
   */
  #isCutInTime(level: Level, isOwnCut: boolean, now: number, worldNow: number): boolean {
    const { epoch, levelAtCut, pauseCount, origin, cutAt } = level;
    if (epoch === 0) return true;
    const key = `${epoch} ${levelAtCut} ${pauseCount} ${origin}`;
    const ageMs = now - cutAt;
    const cutAtWorld = worldNow - ageMs;
    const known = this.#cuts.get(key);
    if (!known || isOwnCut) {
      this.#cuts.set(key, [...(known ?? []), cutAtWorld]);
      return true;
    }
    const { transitMs, drift } = this.#options;
    const inexactMs = 2 + 4 * drift * ageMs;
    return known.some((at) => cutAtWorld >= at - inexactMs && cutAtWorld <= at + 4 * transitMs + inexactMs);
  }
}
