import { checkOptions } from "./check-options.ts";
import type { Fault, SimulationOptions } from "./options.ts";
import type { SwarmReport } from "./recorder.ts";
import { simulateSwarm } from "./simulate-swarm.ts";

/**
 * Simulates a swarm and lets `judge` say what is wrong with the outcome: a sentence, or undefined when all is well. If
 * something is, or a law was broken, rejects with an error that names the seed and the fewest of the faults that it takes.
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

/** Leaves out one fault after the other, as long as it still goes wrong. */
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
