import { checkOptions } from "./check-options.ts";
import type { Fault, SimulationOptions } from "./options.ts";
import type { SwarmReport } from "./recorder.ts";
import { simulateSwarm } from "./simulate-swarm.ts";

/**
 * Simulates a swarm and lets `judge` say what is wrong with the outcome: a sentence, or undefined when all is well. If
 * something is, or a law was broken, throws an error that names the seed and the fewest of the faults that it takes.
 */
export function checkSwarm(
  options: SimulationOptions,
  judge: (report: SwarmReport) => string | undefined,
): SwarmReport {
  checkOptions(options);
  let report: SwarmReport | undefined;
  const wrongWith = (faults: readonly Fault[]): string | undefined => {
    try {
      report = simulateSwarm({ ...options, faults });
      return judge(report);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  const wrong = wrongWith(options.faults ?? []);
  if (wrong === undefined) return report as SwarmReport;
  const { faults, why } = shrink(options.faults ?? [], wrong, wrongWith);
  const events = faults.map((fault) => `\n  ${JSON.stringify(fault)}`).join("");
  const { seed, agents } = options;
  throw new Error(`${why} (seed ${seed}, ${agents} agents)${faults.length > 0 ? `, with only:${events}` : ""}`);
}

/** Leaves out one fault after the other, as long as it still goes wrong. */
function shrink(
  faults: readonly Fault[],
  why: string,
  wrongWith: (faults: readonly Fault[]) => string | undefined,
): { faults: readonly Fault[]; why: string } {
  for (let i = 0; i < faults.length; i++) {
    const fewer = faults.filter((_, j) => j !== i);
    const still = wrongWith(fewer);
    if (still !== undefined) return shrink(fewer, still, wrongWith);
  }
  return { faults, why };
}
