import { fileURLToPath } from "node:url";
import { type CaseResult, withReplacement } from "@hivepace/verify";
import type { SimulationOptions } from "../../src/testing/options.ts";
import type { SwarmReport } from "../../src/testing/recorder.ts";

type Exports = Readonly<Record<string, unknown>>;

/**
 * A mechanism of the engine that is taken out, to show that it is worth having: a figure that holds with the mechanism
 * and does not hold without it.
 */
export interface Ablation {
  /** What the mechanism does, and what happens without it. */
  readonly name: string;
  /** The run, apart from its seed. */
  readonly run: Omit<SimulationOptions, "seed">;
  /** Seeds in `test`; `verify` also tries seeds that nobody has looked at. */
  readonly seeds: readonly number[];
  readonly figure: (report: SwarmReport) => number;
  /** How the figures of several seeds become one. */
  readonly over: "largest" | "mean" | "smallest";
  /** What must hold with the mechanism. */
  readonly present: (figure: number) => boolean;
  /** What must hold without it, given the figure with it. */
  readonly absent: (figure: number, present: number) => boolean;
  /** How the mechanism is taken out: another tuning, or other exports of one module of the engine. */
  readonly without:
    | { readonly tuning: SimulationOptions["tuning"] }
    | { readonly module: string; readonly exports: (original: Exports) => Exports };
  /** Estimated seconds on one quiet core for one seed, both ways. */
  readonly seconds: number;
}

type Simulator = { readonly simulateSwarm: (options: SimulationOptions) => SwarmReport };

/** Runs an ablation over these seeds. Throws when the figure does not tell with from without. */
export async function runAblation(ablation: Ablation, seeds: readonly number[]): Promise<CaseResult> {
  const { run, without, present, absent } = ablation;
  const { simulateSwarm } = await import("../../src/testing/simulate-swarm.ts");
  const withIt = figureOf(ablation, seeds, simulateSwarm, run);
  if (!present(withIt)) throw new Error(`with the mechanism the figure is ${withIt} (seeds ${seeds.join(", ")})`);
  const withoutIt =
    "tuning" in without
      ? figureOf(ablation, seeds, simulateSwarm, { ...run, tuning: without.tuning })
      : figureOf(ablation, seeds, (await ablated(without)).simulateSwarm, run);
  if (!absent(withoutIt, withIt))
    throw new Error(`without the mechanism the figure is ${withoutIt}, with it ${withIt} (seeds ${seeds.join(", ")})`);
  return {
    summary: `with ${Number(withIt.toFixed(3))}, without ${Number(withoutIt.toFixed(3))}`,
    figures: { with: withIt, without: withoutIt },
  };
}

function figureOf(
  { figure, over }: Ablation,
  seeds: readonly number[],
  simulate: Simulator["simulateSwarm"],
  run: Ablation["run"],
): number {
  const values = seeds.map((seed) => figure(simulate({ ...run, seed })));
  if (over === "mean") return values.reduce((sum, value) => sum + value, 0) / values.length;
  return over === "largest" ? Math.max(...values) : Math.min(...values);
}

/** The simulator on an engine in which the exports of one module are replaced. */
function ablated({ module, exports }: { readonly module: string; readonly exports: (original: Exports) => Exports }) {
  const source = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));
  return withReplacement<Simulator>(source("testing/simulate-swarm.ts"), { file: source(`engine/${module}`), exports });
}
