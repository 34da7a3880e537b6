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
  readonly better: "lower" | "higher";
  /** On the seeds that the engine was tuned with: the figure with the mechanism is at least this good. */
  readonly present?: number;
  /** On the same seeds: the figure without it is worse than this. */
  readonly absent?: number;
  /** By how much the mechanism improves the figure on any seeds. Half of the distance of both bounds by default. */
  readonly worth?: number;
  /** How the mechanism is taken out: another tuning, or other exports of one module of the engine. */
  readonly without:
    | { readonly tuning: SimulationOptions["tuning"] }
    | { readonly module: string; readonly exports: (original: Exports) => Exports };
  /** Estimated seconds on one quiet core for one seed, both ways. */
  readonly seconds: number;
}

type Simulator = { readonly simulateEngine: (options: SimulationOptions) => SwarmReport };

/** Runs an ablation on the seeds that the engine was tuned with, where both bounds must hold. */
export async function runTuned(ablation: Ablation): Promise<CaseResult> {
  const { seeds, better, present, absent } = ablation;
  const { withIt, withoutIt } = await figures(ablation, seeds);
  const sign = better === "lower" ? 1 : -1;
  if (present !== undefined && sign * (withIt - present) > 1e-9)
    throw new Error(`with the mechanism the figure is ${withIt}, the bound is ${present} (seeds ${seeds.join(", ")})`);
  if (absent !== undefined && sign * (withoutIt - absent) <= 0)
    throw new Error(`without the mechanism the figure is still ${withoutIt} (seeds ${seeds.join(", ")})`);
  return outcome(ablation, seeds, withIt, withoutIt);
}

/** Runs an ablation on any seeds, where the mechanism must improve the figure by what it is worth. */
export async function runUnseen(ablation: Ablation, seeds: readonly number[]): Promise<CaseResult> {
  const { withIt, withoutIt } = await figures(ablation, seeds);
  return outcome(ablation, seeds, withIt, withoutIt);
}

function outcome(ablation: Ablation, seeds: readonly number[], withIt: number, withoutIt: number): CaseResult {
  const { better, present = 0, absent = 0, worth = Math.abs(absent - present) / 2 } = ablation;
  const gain = better === "lower" ? withoutIt - withIt : withIt - withoutIt;
  if (gain < worth || gain <= 0)
    throw new Error(
      `the figure is ${withIt} with the mechanism and ${withoutIt} without: a gain of ${gain}, where ${worth} is expected (seeds ${seeds.join(", ")})`,
    );
  return {
    summary: `with ${Number(withIt.toFixed(3))}, without ${Number(withoutIt.toFixed(3))}`,
    figures: { with: withIt, without: withoutIt },
  };
}

async function figures(ablation: Ablation, seeds: readonly number[]) {
  const { run, without } = ablation;
  const { simulateEngine } = await import("../../src/testing/simulate-engine.ts");
  const withIt = figureOf(ablation, seeds, simulateEngine, run);
  const withoutIt =
    "tuning" in without
      ? figureOf(ablation, seeds, simulateEngine, { ...run, tuning: without.tuning })
      : figureOf(ablation, seeds, (await ablated(without)).simulateEngine, run);
  return { withIt, withoutIt };
}

function figureOf(
  { figure, over }: Ablation,
  seeds: readonly number[],
  simulate: Simulator["simulateEngine"],
  run: Ablation["run"],
): number {
  const values = seeds.map((seed) => figure(simulate({ ...run, seed })));
  if (over === "mean") return values.reduce((sum, value) => sum + value, 0) / values.length;
  return over === "largest" ? Math.max(...values) : Math.min(...values);
}

/** The simulator on an engine in which the exports of one module are replaced. */
function ablated({ module, exports }: { readonly module: string; readonly exports: (original: Exports) => Exports }) {
  const source = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));
  return withReplacement<Simulator>(source("testing/simulate-engine.ts"), {
    file: source(`engine/${module}`),
    exports,
  });
}
