import type { Case } from "@hivepace/verify";
import { checkSwarm } from "../../src/testing/check-swarm.ts";
import { mixedFaults } from "../../src/testing/mixed-faults.ts";

/** Random faults for a few minutes: the laws hold, and the limit does. A failure names the seed and the faults that it takes. */
const QUICK_SEEDS = 120;
const SEEDS = 5_000;
const SLICE = 20;
const QUICK_MINUTES = 4;
const MINUTES = 6;
/** Nobody can know what agents use that are cut off for long. */
const MOST = 1.1;

/** So much happens in a day that some agents start while others are cut off, and cannot know of them: only the laws must hold. */
const DAY_SEEDS = 10;
const DAY_MINUTES = 24 * 60;
/** Measured on one quiet core, for each virtual minute. */
const SECONDS_PER_MINUTE = 0.05;

export const cases: readonly Case[] = [
  ...slices("quick", QUICK_SEEDS, QUICK_MINUTES, true),
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
    const { peak } = await checkSwarm({ ...mixedFaults(seed, minutes), drive: "engine" }, (report) =>
      report.peak <= most ? undefined : `the usage reached ${report.peak} of the limit, ${most} is allowed`,
    );
    worst = Math.max(worst, peak);
  }
  return { summary: `worst ${worst.toFixed(3)} of the limit`, figures: { worst } };
}
