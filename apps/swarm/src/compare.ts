import type { Plan } from "./plan.ts";
import type { Outcome } from "./run/outcome.ts";
import { type RunSetting, SwarmRun } from "./run/swarm-run.ts";
import { type ScenarioName, scenarios } from "./scenarios.ts";

/** One to fill, and two to measure. */
const WINDOWS = 3;

/** The same load and the same provider for those who do not share: shorter, and spared all that happens to the swarm. */
export function baselineOf(plan: Plan, name: Extract<ScenarioName, "without" | "alone">): Plan {
  const { demand, weight } = plan.scenario;
  const { pacing, about } = scenarios[name];
  const durationMs = Math.min(plan.durationMs, WINDOWS * plan.windowMs);
  return { ...plan, durationMs, scenario: { about, pacing, demand, weight, steps: [] } };
}

/** Both at once, each with a provider of its own. */
export async function compare(
  plan: Plan,
  setting: Omit<RunSetting, "hosts" | "scenario" | "tell">,
  signal: AbortSignal,
): Promise<{ readonly without: Outcome; readonly alone: Outcome }> {
  const one = async (scenario: "without" | "alone"): Promise<Outcome> => {
    const baseline = baselineOf(plan, scenario);
    const run = await SwarmRun.open(baseline, { ...setting, hosts: "one thread", scenario, tell: () => {} });
    try {
      return await run.play(signal);
    } finally {
      await run.close(signal.aborted ? 0 : undefined);
    }
  };
  const [without, alone] = await Promise.all([one("without"), one("alone")]);
  return { without, alone };
}
