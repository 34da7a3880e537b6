import type { Case } from "@hivepace/verify";
import { mixedSlotFaults } from "../../src/testing/slot-faults.ts";
import { checkSlots } from "../support/check-slots.ts";

/** Random faults among agents that share slots: no slot is lost, leaked, or granted twice. */
const SEEDS = 200;
const SLICE = 10;
/** Measured on one quiet core. */
const SECONDS_PER_SEED = 1.5;

export const cases: readonly Case[] = Array.from({ length: SEEDS / SLICE }, (_, i) => {
  const first = i * SLICE + 1;
  return {
    id: `slots/mixed-faults/seeds-${first}-to-${first + SLICE - 1}`,
    seconds: SLICE * SECONDS_PER_SEED,
    isQuick: i === 0,
    run: async () => {
      let worst = 0;
      for (let seed = first; seed < first + SLICE; seed++)
        worst = Math.max(worst, await checkSlots(mixedSlotFaults(seed)));
      return { summary: `at most ${worst} calls above the limit`, figures: { worst } };
    },
  };
});
