import type { Case } from "@hivepace/verify";
import { fuzzerOf } from "../program-fuzz/core/fuzzer.ts";
import { extremeHive } from "../program-fuzz/hive/subject.ts";
import { extremeLimiter } from "../program-fuzz/limiter/subject.ts";

/**
 * Programs with numbers at the edges of the allowed ranges, over hours and years of virtual time: every published
 * message decodes, no agent ignores one, and at the end all agents agree.
 */
const QUICK_SEEDS = 10;
const SEEDS = 2_000;
const SLICE = 10;
/** Measured on one quiet core. */
const SECONDS_PER_PROGRAM = 0.3;

export const cases: readonly Case[] = [fuzzerOf(extremeHive), fuzzerOf(extremeLimiter)].flatMap(({ name, check }) =>
  Array.from({ length: SEEDS / SLICE }, (_, i) => {
    const first = i * SLICE + 1;
    return {
      id: `emitted-messages/${name}/seeds-${first}-to-${first + SLICE - 1}`,
      seconds: SLICE * SECONDS_PER_PROGRAM,
      isQuick: first + SLICE - 1 <= QUICK_SEEDS,
      run: async () => {
        for (let seed = first; seed < first + SLICE; seed++) await check(seed);
        return { summary: `${SLICE} programs` };
      },
    };
  }),
);
