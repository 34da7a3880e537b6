import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  checkSwarm,
  type Figure,
  holds,
  mixedFaults,
  type SwarmReport,
  simulateSwarm,
  swarmScenarios,
  swarmTable,
} from "@hivepace/distributed/testing";
import { charts } from "./charts.ts";
import { comparisons } from "./comparisons.ts";
import { type Options, parseOptions, usage } from "./options.ts";

let failures = 0;

/** A run that is done: for people a line, for machines an object. */
function show(options: Options, name: string, report: SwarmReport, figures: readonly Figure[]): void {
  const isRight = figures.every(holds);
  if (!isRight) failures++;
  if (options.json) {
    const { seconds: _, served: __, ...rest } = report;
    console.log(JSON.stringify({ name, holds: isRight, figures, ...rest }));
    return;
  }
  const text = figures.map(({ name: figure, value, least, most }) => {
    const bound = least === undefined ? `≤ ${most}` : `≥ ${least}`;
    return `${figure} ${Number(value.toFixed(3))} (${bound})`;
  });
  const { agents, seed } = report;
  console.log(`${isRight ? "ok  " : "FAIL"} ${name}, ${agents} agents, seed ${seed}: ${text.join(", ")}`);
}

function runScenarios(options: Options, size: number): void {
  for (const scenario of Object.values(swarmScenarios).flat()) {
    if (size > (scenario.mostAgents ?? Infinity) || !options.filter.test(scenario.name)) continue;
    for (let seed = 1; seed <= options.seeds; seed++) {
      const run = scenario.options(size);
      const agents = run.agents ?? size;
      const report = simulateSwarm({ ...run, agents, seed });
      show(options, scenario.name, report, scenario.figures(report, agents));
    }
  }
}

/** Random faults; a failure says which of them it takes. */
function runMixed(options: Options, name: string, seeds: number, minutes: number): void {
  let worst = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    try {
      const report = checkSwarm(mixedFaults(seed, minutes), ({ peak }) =>
        peak <= 1.1 ? undefined : `it reached ${peak}`,
      );
      worst = Math.max(worst, report.peak);
    } catch (error) {
      failures++;
      console.log(`FAIL ${name}: ${(error as Error).message}`);
    }
    if (!options.json && seed % 100 === 0)
      console.log(`     ${name}: ${seed} of ${seeds} seeds, worst ${worst.toFixed(3)}`);
  }
  if (options.json) console.log(JSON.stringify({ name, seeds, minutes, worst }));
  else
    console.log(`     ${name}: ${seeds} seeds of ${minutes} virtual minutes, worst ${worst.toFixed(3)} of the limit`);
}

async function main(options: Options): Promise<void> {
  for (const size of options.agents) runScenarios(options, size);
  if (options.mixed > 0) runMixed(options, "mixed faults", options.mixed, 6);
  if (options.soakHours > 0) runMixed(options, "soak", 10, options.soakHours * 6);
  if (options.compare) {
    for (const { title, rows } of comparisons())
      console.log(options.json ? JSON.stringify({ title, rows }) : `\n${title}\n\n${swarmTable(rows)}`);
  }
  if (options.charts !== undefined) {
    await mkdir(options.charts, { recursive: true });
    for (const [name, svg] of Object.entries(charts())) await writeFile(join(options.charts, `${name}.svg`), svg);
  }
  if (failures > 0) console.log(`\n${failures} did not hold`);
}

try {
  const options = parseOptions(process.argv.slice(2));
  if (options) await main(options);
  else console.log(usage);
  process.exitCode = failures > 0 ? 1 : 0;
} catch (error) {
  if (!(error instanceof RangeError)) throw error;
  console.error(`${error.message}\n\n${usage}`);
  process.exitCode = 2;
}
