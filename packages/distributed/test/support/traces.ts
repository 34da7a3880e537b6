import { readFileSync, writeFileSync } from "node:fs";
import { mixedFaults } from "../../src/testing/mixed-faults.ts";
import type { SimulationOptions } from "../../src/testing/options.ts";
import { swarmScenarios } from "../../src/testing/scenarios/index.ts";
import { slug } from "./slug.ts";

/**
 * The committed traces: one line per run, with its name and the hash of everything that happened in it. Renaming or
 * moving code changes no line. `swarm:traces` rewrites them after a change of behaviour, which its commit explains.
 */
const FILE = new URL("../fixtures/traces.txt", import.meta.url);
const AGENTS = 10;
const SEED = 1;

/** Number of random-fault seeds with a committed trace, and duration of each run. */
export const TRACED_FAULTS = { seeds: 120, minutes: 4 } as const;

let known: ReadonlyMap<string, string> | undefined;

/** Throws if a run differs from its committed trace. */
export function checkTrace(run: string, trace: string): void {
  known ??= readTraces();
  const before = known.get(run);
  if (before === undefined || before === trace) return;
  throw new Error(
    `the run ${run} has the trace ${trace}, and ${before} is committed: the engine decides otherwise than before. If that ` +
      "is meant, rewrite test/fixtures/traces.txt with `swarm:traces` and explain the change in the commit",
  );
}

export function scenarioRun(theme: string, name: string): string {
  return `${theme}/${slug(name)}`;
}

export function mixedRun(seed: number): string {
  return `mixed-faults/seed-${seed}`;
}

/** Returns every run that has a committed trace. */
export function tracedRuns(): ReadonlyMap<string, SimulationOptions> {
  const runs = new Map<string, SimulationOptions>();
  for (const [theme, scenarios] of Object.entries(swarmScenarios))
    for (const { name, options } of scenarios) {
      const run = options(AGENTS);
      runs.set(scenarioRun(theme, name), { ...run, agents: run.agents ?? AGENTS, seed: SEED, drive: "engine" });
    }
  for (let seed = 1; seed <= TRACED_FAULTS.seeds; seed++)
    runs.set(mixedRun(seed), { ...mixedFaults(seed, TRACED_FAULTS.minutes), drive: "engine" });
  return runs;
}

export function readTraces(): ReadonlyMap<string, string> {
  const lines = readFileSync(FILE, "utf8").split("\n").filter(Boolean);
  return new Map(lines.map((line) => line.split(" ") as [string, string]));
}

export function writeTraces(traces: ReadonlyMap<string, string>): void {
  writeFileSync(FILE, [...traces].map(([run, trace]) => `${run} ${trace}\n`).join(""));
}
