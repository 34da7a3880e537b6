import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import {
  canDrive,
  checkSwarm,
  type Figure,
  holds,
  mixedFaults,
  type Scenario,
  type SwarmReport,
  simulateSwarm,
  swarmScenarios,
  swarmTable,
} from "@hivepace/distributed/testing";
import { charts } from "./charts.ts";
import { comparisons } from "./comparisons.ts";
import { type Options, parseOptions, usage } from "./options.ts";
import { progress } from "./progress.ts";
import { terminalChart } from "./terminal-chart.ts";

/** Output streams and an abort signal. Node's `process.stdout` and `process.stderr` fit. */
export interface SimulateWorld {
  readonly stdout: { write(text: string): unknown; readonly columns?: number | undefined };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean | undefined };
  /** After an abort no further run starts. */
  readonly signal?: AbortSignal | undefined;
}

/** Above this number of runs, no charts are drawn by default. */
const MOST_CHARTS = 12;
const INTERRUPTED = 130;
/**
 * Swarms above this size run only scenarios up to `CROWD_MS`, unless `--only` selects others, because each of their
 * virtual minutes takes long.
 */
const CROWD = 300;
const CROWD_MS = 180_000;

/**
 * Resolves with the exit code: 0 when all bounds hold, 1 when one does not, 2 for an invalid option, 130 when
 * interrupted.
 */
export async function runSimulate(args: readonly string[], world: SimulateWorld): Promise<number> {
  let options: Options | undefined;
  try {
    options = parseOptions(args);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    world.stderr.write(`${error.message}\n\n${usage}\n`);
    return 2;
  }
  if (!options) {
    world.stdout.write(`${usage}\n`);
    return 0;
  }
  const run = new SimulateRun(options, world);
  return (await run.all()) ? INTERRUPTED : run.failures > 0 ? 1 : 0;
}

class SimulateRun {
  readonly #options: Options;
  readonly #world: SimulateWorld;
  failures = 0;

  constructor(options: Options, world: SimulateWorld) {
    this.#options = options;
    this.#world = world;
  }

  /** Resolves with whether the run was interrupted. */
  async all(): Promise<boolean> {
    const { mixed, soakHours, compare, charts: folder, json } = this.#options;
    await this.#scenarios();
    if (mixed > 0) await this.#mixed("mixed faults", mixed, 6, 1.1);
    // No bound on the peak: over hours of faults some agents start while others are partitioned, and cannot know of
    // their usage. The laws must hold nevertheless.
    if (soakHours > 0) await this.#mixed("soak", 10, soakHours * 6, Infinity);
    if (compare) {
      for (const { title, rows } of comparisons()) {
        if (await this.#isOver()) break;
        this.#print(json ? JSON.stringify({ title, rows }) : `\n${title}\n\n${swarmTable(rows)}`);
      }
    }
    if (folder !== undefined && !(await this.#isOver())) {
      await mkdir(folder, { recursive: true });
      for (const [name, svg] of Object.entries(charts())) await writeFile(join(folder, `${name}.svg`), svg);
    }
    if (this.failures > 0 && !json) this.#print(`\n${this.failures} failed`);
    return this.#world.signal?.aborted ?? false;
  }

  async #scenarios(): Promise<void> {
    const { agents: sizes, seeds, filter, only, drive } = this.#options;
    const runs: { scenario: Scenario; size: number; seed: number }[] = [];
    for (const size of sizes)
      for (const scenario of Object.values(swarmScenarios).flat()) {
        if (size > (scenario.mostAgents ?? Infinity) || !filter.test(scenario.name)) continue;
        if (!canDrive(drive, scenario.options(size))) continue;
        if (size > CROWD && only === "" && scenario.options(size).duration > CROWD_MS) continue;
        for (let seed = 1; seed <= seeds; seed++) runs.push({ scenario, size, seed });
      }
    if (sizes.length > 0 && runs.length === 0) {
      this.failures++;
      this.#world.stderr.write(`no scenario matches ${JSON.stringify(only)}: without --only all of them run\n`);
      return;
    }
    const mine = this.#part(runs);
    for (const [i, { scenario, size, seed }] of mine.entries()) {
      this.#progress(`${i + 1} of ${mine.length}: ${scenario.name}`);
      if (await this.#isOver()) return;
      const run = scenario.options(size);
      const agents = run.agents ?? size;
      const onProgress = progress(`${scenario.name}, ${agents} agents, seed ${seed}`, run.duration, this.#say);
      const report = await simulateSwarm({ ...run, agents, seed, drive, onProgress });
      this.#show(scenario.name, report, scenario.figures(report, agents), mine.length <= MOST_CHARTS);
    }
  }

  /** Runs random faults; a failure names a minimal set of them. */
  async #mixed(name: string, seeds: number, minutes: number, most: number): Promise<void> {
    const { json, drive } = this.#options;
    let worst = 0;
    const mine = this.#part(Array.from({ length: seeds }, (_, i) => i + 1));
    const done = progress(name, mine.length, this.#say);
    for (const [i, seed] of mine.entries()) {
      this.#progress(`${name}: ${i + 1} of ${mine.length} seeds`);
      if (await this.#isOver()) return;
      try {
        const options = mixedFaults(seed, minutes);
        if (!canDrive(drive, options)) continue;
        const report = await checkSwarm({ ...options, drive }, ({ peak }) =>
          peak <= most ? undefined : `it reached ${peak}`,
        );
        worst = Math.max(worst, report.peak);
      } catch (error) {
        this.failures++;
        const { message } = error as Error;
        this.#print(json ? JSON.stringify({ name, seed, holds: false, message }) : `FAIL ${name}: ${message}`);
      }
      done(i + 1);
      if (!json && (i + 1) % 100 === 0)
        this.#print(`     ${name}: ${i + 1} of ${mine.length} seeds, worst ${worst.toFixed(3)}`);
    }
    if (json) this.#print(JSON.stringify({ name, seeds: mine.length, minutes, worst }));
    else
      this.#print(
        `     ${name}: ${mine.length} seeds of ${minutes} virtual minutes, worst ${worst.toFixed(3)} of the limit`,
      );
  }

  /** Returns the runs of this shard. */
  #part<Run>(runs: readonly Run[]): Run[] {
    const { index, of } = this.#options.shard;
    return runs.filter((_, i) => i % of === index - 1);
  }

  /** Prints a finished run: a line and a chart, or an object with `--json`. */
  #show(name: string, report: SwarmReport, figures: readonly Figure[], isFew: boolean): void {
    const isRight = figures.every(holds);
    if (!isRight) this.failures++;
    if (this.#options.json) {
      const { seconds: _, levelSeconds: __, served: ___, refusedSeconds: ____, ...rest } = report;
      this.#print(JSON.stringify({ name, holds: isRight, figures, ...rest }));
      return;
    }
    const text = figures.map(({ name: figure, value, least, most }) => {
      const bound = least === undefined ? `≤ ${most}` : `≥ ${least}`;
      return `${figure} ${Number(value.toFixed(3))} (${bound})`;
    });
    const { agents, seed } = report;
    this.#print(`${isRight ? "ok  " : "FAIL"} ${name}, ${agents} agents, seed ${seed}: ${text.join(", ")}`);
    if (this.#options.chart ?? isFew) this.#print(`\n${terminalChart(report, this.#world.stdout.columns)}\n`);
  }

  #print(line: string): void {
    this.#clearProgress();
    this.#world.stdout.write(`${line}\n`);
  }

  /** Prints a message that is not a result, to stderr. */
  readonly #say = (line: string): void => {
    this.#clearProgress();
    this.#world.stderr.write(`${line}\n`);
  };

  #progress(text: string): void {
    if (this.#world.stderr.isTTY) this.#world.stderr.write(`\r\x1b[2K${text.slice(0, 78)} …`);
  }

  #clearProgress(): void {
    if (this.#world.stderr.isTTY) this.#world.stderr.write("\r\x1b[2K");
  }

  /** Yields to the event loop, so that signals are handled between runs. */
  async #isOver(): Promise<boolean> {
    await breathe();
    if (this.#world.signal?.aborted) this.#clearProgress();
    return this.#world.signal?.aborted ?? false;
  }
}
