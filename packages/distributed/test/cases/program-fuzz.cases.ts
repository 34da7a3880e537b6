import type { Case } from "@hivepace/verify";
import { checkProgram } from "../program-fuzz/check-program.ts";
import { generate } from "../program-fuzz/generate.ts";

/** Random programs over the public API of hives: the laws of `program-fuzz/world.ts` hold after every command. */
const QUICK = { programs: 300, slice: 50 };
const ALL = { programs: 200_000, slice: 500 };
/** Measured on one quiet core, for each program. */
const SECONDS_PER_PROGRAM = 0.03;

export const cases: readonly Case[] = [
  ...slices("quick", 1, QUICK.programs, QUICK.slice, true),
  ...slices("all", 1 + QUICK.programs, ALL.programs, ALL.slice, false),
];

function slices(name: string, first: number, programs: number, slice: number, isQuick: boolean): Case[] {
  return Array.from({ length: programs / slice }, (_, i) => {
    const from = first + i * slice;
    return {
      id: `program-fuzz/${name}/seeds-${from}-to-${from + slice - 1}`,
      seconds: slice * SECONDS_PER_PROGRAM,
      isQuick,
      run: async () => {
        for (let seed = from; seed < from + slice; seed++) await checkProgram(generate(seed));
        return { summary: `${slice} programs` };
      },
    };
  });
}
