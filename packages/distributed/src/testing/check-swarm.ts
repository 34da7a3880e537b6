import { checkOptions } from "./check-options.ts";
import type { Fault, SimulationOptions } from "./options.ts";
import type { SwarmReport } from "./report.ts";
import { simulateSwarm } from "./simulate-swarm.ts";

/**
 * Simulates a swarm and lets `judge` describe what is wrong with the outcome, or return undefined. If `judge` objects
 * or a law is broken, rejects with an error that names the seed and a minimal list of faults that reproduces the
 * failure.
 */
export async function checkSwarm(
  options: SimulationOptions,
  judge: (report: SwarmReport) => string | undefined,
): Promise<SwarmReport> {
  checkOptions(options);
  let report: SwarmReport | undefined;
  const wrongWith = async (faults: readonly Fault[]): Promise<string | undefined> => {
    try {
      report = await simulateSwarm({ ...options, faults });
      return judge(report);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  const wrong = await wrongWith(options.faults ?? []);
  if (wrong === undefined) return report as SwarmReport;
  const { faults, why } = await shrink(options.faults ?? [], wrong, wrongWith);
  const events = faults.map((fault) => `\n  ${JSON.stringify(fault)}`).join("");
  const { seed, agents } = options;
  throw new Error(`${why} (seed ${seed}, ${agents} agents)${faults.length > 0 ? `, with only:${events}` : ""}`);
}

/** Removes faults one at a time, as long as the run still fails without them. */
async function shrink(
  faults: readonly Fault[],
  why: string,
  wrongWith: (faults: readonly Fault[]) => Promise<string | undefined>,
): Promise<{ faults: readonly Fault[]; why: string }> {
  for (let i = 0; i < faults.length; i++) {
    const fewer = faults.filter((_, j) => j !== i);
    const still = await wrongWith(fewer);
    if (still !== undefined) return shrink(fewer, still, wrongWith);
  }
  return { faults, why };
}
