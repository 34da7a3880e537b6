import { newBaseline } from "./baselines.ts";
import { checkOptions } from "./check-options.ts";
import { Cuts } from "./cuts.ts";
import { EngineAgent } from "./engine-agent.ts";
import { Laws } from "./laws.ts";
import type { SimulationOptions } from "./options.ts";
import type { SwarmReport } from "./report.ts";
import { type Agents, type Setting, Simulation, type Start } from "./simulation.ts";

/**
 * Runs a swarm of pure engines in virtual time without promises, fast enough for hundreds of agents and thousands of
 * runs. Equivalent to `simulateSwarm` with `drive: "engine"`.
 *
 * @throws INVALID_CONFIG for an invalid option, and an Error when a law of the engine is broken.
 */
export function simulateEngine(options: SimulationOptions): SwarmReport {
  checkOptions({ ...options, drive: "engine" });
  return new Simulation(options, (setting) => new Engines(setting)).run();
}

/** Incarnations are numbered from here on, so that a fault can produce an earlier one. */
const LATER = 1_000;

/** Creates agents with pure engines, or with a baseline scheme. */
class Engines implements Agents {
  readonly drive = "engine";
  readonly cuts = new Cuts();
  readonly #setting: Setting;
  readonly #laws: Laws;

  constructor(setting: Setting) {
    const { options, transitMs } = setting;
    const { agents, drift = 0.0001 } = options;
    this.#setting = setting;
    this.#laws = new Laws({ agents, drift, transitMs });
  }

  newAgent({ index, life, id, isEarlier }: Start): EngineAgent | ReturnType<typeof newBaseline> {
    const { options, world, times, timeline, live, trace } = this.#setting;
    const { scheme = "hive", isolation = "balanced", expectedAgents, weights, tuning, demand, store } = options;
    if (scheme !== "hive") return newBaseline(scheme, world, index);
    const time = times[index] as (typeof times)[number];
    const clock = (worldMs: number): number => time.at(worldMs);
    return new EngineAgent(world, {
      index,
      id,
      incarnation: (isEarlier ? 1 : LATER + life) * 1_000 + index,
      weight: weights?.[index] ?? 1,
      isolation,
      expectedAgents,
      isMeasured: options.recovery === "measured",
      tryOnly: demand.tryOnly?.includes(index) ?? false,
      clock,
      tuning,
      store: store && { aggregation: store.aggregation, above: store.above ?? 300, below: store.below ?? 200 },
      observe: (agent, event, effects) => {
        trace.step(index, timeline.now, event, effects);
        this.#laws.check(agent, event, effects, clock(timeline.now), timeline.now);
        this.cuts.note(agent, timeline.now, live);
      },
    });
  }
}
