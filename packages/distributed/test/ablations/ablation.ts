import { fileURLToPath } from "node:url";
import { type CaseResult, type Replacement, withReplacement } from "@hivepace/verify";
import type { SimulationOptions } from "../../src/testing/options.ts";
import type { SwarmReport } from "../../src/testing/report.ts";

/** The engine modules that an ablation may replace, with their exports. */
interface Modules {
  "agent.ts": typeof import("../../src/engine/agent.ts");
  "backfill.ts": typeof import("../../src/engine/backfill.ts");
  "claim.ts": typeof import("../../src/engine/claim.ts");
  "isolation-budget.ts": typeof import("../../src/engine/isolation-budget.ts");
  "join-snapshot.ts": typeof import("../../src/engine/join-snapshot.ts");
  "level.ts": typeof import("../../src/engine/level.ts");
  "membership.ts": typeof import("../../src/engine/membership.ts");
  "modes/joining.ts": typeof import("../../src/engine/modes/joining.ts");
  "reconcile.ts": typeof import("../../src/engine/reconcile.ts");
  "schedule.ts": typeof import("../../src/engine/schedule.ts");
  "take.ts": typeof import("../../src/engine/take.ts");
  "virtual-time.ts": typeof import("../../src/engine/virtual-time.ts");
}

/** A module, and the function that replaces some of its exports to remove the mechanism. */
type Replaced = {
  [M in keyof Modules]: { readonly module: M; readonly exports: (original: Modules[M]) => Partial<Modules[M]> };
}[keyof Modules];

/**
 * Removes one mechanism of the engine, to show that the mechanism is worthwhile: a figure that holds with the mechanism
 * and fails without it.
 */
export interface Ablation {
  /** The purpose of the mechanism, and the effect of removing it. */
  readonly name: string;
  /** The run, apart from its seed. */
  readonly run: Omit<SimulationOptions, "seed">;
  /** Seeds for `test`; `verify` also tries seeds that were not used for tuning. */
  readonly seeds: readonly number[];
  readonly figure: (report: SwarmReport) => number;
  /** How the figures of several seeds are combined. */
  readonly over: "largest" | "mean" | "smallest";
  readonly better: "lower" | "higher";
  /** Bound that the figure meets with the mechanism, on the seeds that the engine was tuned with. */
  readonly present?: number;
  /** Bound that the figure fails without the mechanism, on the same seeds. */
  readonly absent?: number;
  /** Minimum improvement of the figure by the mechanism on any seeds. @defaultValue half the distance of both bounds */
  readonly worth?: number;
  /** How the mechanism is removed: by other tuning, or by other exports of one engine module. */
  readonly without: { readonly tuning: SimulationOptions["tuning"] } | Replaced;
  /** Estimated seconds for one seed, with and without the mechanism, on one quiet core. */
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

/** Runs an ablation on any seeds, where the mechanism must improve the figure by at least `worth`. */
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

/** Loads the simulator on an engine with one module's exports replaced. */
function ablated({ module, exports }: Replaced) {
  const source = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));
  return withReplacement<Simulator>(source("testing/simulate-engine.ts"), {
    file: source(`engine/${module}`),
    // The union of modules guarantees that the function receives the exports of its own module.
    exports: exports as Replacement["exports"],
  });
}
