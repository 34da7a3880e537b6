import type { Case } from "@hivepace/verify";
import { checkSwarm } from "../../src/testing/check-swarm.ts";
import { mixedFaults } from "../../src/testing/mixed-faults.ts";
import { checkTrace, mixedRun, TRACED_FAULTS } from "../support/traces.ts";

/**
 * Random faults for a few minutes: the laws and the limit hold. A failure names the seed and a minimal list of faults.
 */
const SEEDS = 5_000;
const SLICE = 20;
const MINUTES = 6;
/** Bound of usage, in limits. Usage of agents that are disconnected for long is unknown to the others. */
const MOST = 1.1;

/**
 * Among a day's faults, some agents start while others are disconnected and cannot know of them, so that only the laws
 * are checked.
 */
const DAY_SEEDS = 10;
const DAY_MINUTES = 24 * 60;
/** Measured on one quiet core, per virtual minute. */
const SECONDS_PER_MINUTE = 0.05;

export const cases: readonly Case[] = [
  ...slices("quick", TRACED_FAULTS.seeds, TRACED_FAULTS.minutes, true),
  ...slices("long", SEEDS, MINUTES, false),
  ...Array.from({ length: DAY_SEEDS }, (_, i) => ({
    id: `mixed-faults/a-day/seed-${i + 1}`,
    seconds: DAY_MINUTES * SECONDS_PER_MINUTE,
    run: () => runSeeds(i + 1, 1, DAY_MINUTES, Infinity),
  })),
];

function slices(name: string, seeds: number, minutes: number, isQuick: boolean): Case[] {
  return Array.from({ length: seeds / SLICE }, (_, i) => {
    const first = i * SLICE + 1;
    return {
      id: `mixed-faults/${name}/seeds-${first}-to-${first + SLICE - 1}`,
      seconds: SLICE * minutes * SECONDS_PER_MINUTE,
      isQuick,
      run: () => runSeeds(first, SLICE, minutes, MOST),
    };
  });
}

async function runSeeds(first: number, count: number, minutes: number, most: number) {
  let worst = 0;
  for (let seed = first; seed < first + count; seed++) {
    const { peak, trace } = await checkSwarm({ ...mixedFaults(seed, minutes), drive: "engine" }, (report) =>
      report.peak <= most ? undefined : `the usage reached ${report.peak} of the limit, ${most} is allowed`,
    );
    if (minutes === TRACED_FAULTS.minutes) checkTrace(mixedRun(seed), trace);
    worst = Math.max(worst, peak);
  }
  return { summary: `worst ${worst.toFixed(3)} of the limit`, figures: { worst } };
}
