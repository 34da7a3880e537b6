import assert from "node:assert/strict";
import type { Case } from "@hivepace/verify";
import { HiveProgram, LimiterProgram } from "../support/random-programs.ts";

/** Whatever limiters and hives go through, for hours and for years of virtual time: everyone understands what they say. */
const QUICK_SEEDS = 10;
const SEEDS = 1_000;
const SLICE = 10;
const OPERATIONS = 40;
const PROGRAMS = { limiters: LimiterProgram, hives: HiveProgram } as const;
/** Measured on one quiet core. */
const SECONDS_PER_PROGRAM = 0.5;

export const cases: readonly Case[] = Object.entries(PROGRAMS).flatMap(([name, Program]) =>
  Array.from({ length: SEEDS / SLICE }, (_, i) => {
    const first = i * SLICE + 1;
    return {
      id: `emitted-messages/${name}/seeds-${first}-to-${first + SLICE - 1}`,
      seconds: SLICE * SECONDS_PER_PROGRAM,
      isQuick: first + SLICE - 1 <= QUICK_SEEDS,
      run: async () => {
        let messages = 0;
        for (let seed = first; seed < first + SLICE; seed++) {
          const outcome = await new Program(seed).run(OPERATIONS);
          assert.deepEqual(outcome.problems, [], `seed ${seed}`);
          messages += outcome.messages;
        }
        assert.ok(messages > 100 * SLICE, `only ${messages} messages were sent`);
        return { figures: { messages } };
      },
    };
  }),
);
