import { checkOptions } from "./check-options.ts";
import { HiveProcess } from "./hive-process.ts";
import { LimiterProcess } from "./limiter-process.ts";
import type { Drive, Fault, SimulationOptions } from "./options.ts";
import { RealCuts } from "./real-cuts.ts";
import { RealLaws } from "./real-laws.ts";
import type { SwarmReport } from "./report.ts";
import { simulateEngine } from "./simulate-engine.ts";
import { type Agents, type Setting, Simulation, type Start } from "./simulation.ts";
import type { Participant } from "./world.ts";

/** Time after which everything that a closing agent does has ended. */
const GRACE_MS = 30_000;

/**
 * Runs a swarm in virtual time against providers that enforce their limits, and reports the outcome. Runs the hives that
 * programs use, on a simulated bus, store and clock; `drive` selects limiters or the pure engine instead.
 *
 * Rejects with INVALID_CONFIG for a wrong option, and with an Error when a law is broken; `checkSwarm` finds out by which
 * faults.
 */
export async function simulateSwarm(options: SimulationOptions): Promise<SwarmReport> {
  checkOptions(options);
  const { drive = "hive", scheme = "hive" } = options;
  if (drive === "engine" || scheme !== "hive") return simulateEngine(options);
  let agents: RealAgents | undefined;
  const simulation = new Simulation(options, (setting) => {
    agents = new RealAgents(setting, drive);
    return agents;
  });
  const report = await simulation.runSettling();
  agents?.laws.check();
  await simulation.close(GRACE_MS);
  agents?.laws.checkEnd();
  return report;
}

/** Creates processes with real hives or limiters. */
class RealAgents implements Agents {
  readonly drive: Exclude<Drive, "engine">;
  readonly cuts = new RealCuts();
  readonly laws: RealLaws;
  readonly #setting: Setting;

  constructor(setting: Setting, drive: Exclude<Drive, "engine">) {
    const { options, world } = setting;
    const { drift = 0.0001, network, observers = [], keys } = options;
    this.drive = drive;
    this.#setting = setting;
    // Above the usual message loss or delay, agents may have incomplete knowledge of each other.
    const isLossy = (network?.loss ?? 0) > 0.05 || (network?.delayMs?.[1] ?? 0) > 300;
    const isDisturbed = isLossy || observers.length > 0;
    const { endpoints, windowMs } = world;
    this.laws = new RealLaws({ endpoints, keys, windowMs, drift, isDisturbed });
  }

  newAgent(start: Start): Participant {
    const { laws, cuts } = this;
    return this.drive === "hive"
      ? new HiveProcess(this.#setting, start, laws, cuts)
      : new LimiterProcess(this.#setting, start, laws, cuts);
  }

  disturbed(fault: Fault): void {
    this.laws.disturbed(fault);
  }
}
