import type { Case } from "@hivepace/verify";
import { KNOWN_VIOLATIONS } from "../program-fuzz/known-violations.ts";
import { FUZZERS } from "../program-fuzz/subjects.ts";

interface Plan {
  /** Number of programs in each run of `test`, and in all cases together. */
  readonly quick: number;
  readonly programs: number;
  /** Programs in one case. */
  readonly slice: number;
  /** Seconds per program, measured on one quiet core. */
  readonly seconds: number;
}

/** Random programs over the public API, see test/program-fuzz/README.md. */
const PLANS: Readonly<Record<string, Plan>> = {
  hive: { quick: 200, programs: 200_000, slice: 500, seconds: 0.03 },
  "hive-operations": { quick: 200, programs: 200_000, slice: 500, seconds: 0.03 },
  limiter: { quick: 200, programs: 100_000, slice: 500, seconds: 0.03 },
  "memory-limiter": { quick: 1_000, programs: 200_000, slice: 10_000, seconds: 0.001 },
  "rate-manager": { quick: 1_000, programs: 200_000, slice: 10_000, seconds: 0.002 },
};

export const cases: readonly Case[] = FUZZERS.flatMap(({ name, check }) => {
  const plan = PLANS[name];
  if (!plan) return [];
  const { quick, programs, slice, seconds } = plan;
  return [
    caseOf("quick", 1, quick, true),
    ...Array.from({ length: programs / slice }, (_, i) => caseOf("all", 1 + quick + i * slice, slice, false)),
  ];

  function caseOf(kind: string, first: number, count: number, isQuick: boolean): Case {
    return {
      id: `program-fuzz/${name}/${kind}/seeds-${first}-to-${first + count - 1}`,
      seconds: count * seconds,
      isQuick,
      run: async () => {
        for (let seed = first; seed < first + count; seed++) {
          const law = KNOWN_VIOLATIONS[name]?.[seed];
          await (law === undefined ? check(seed) : checkKnown(check(seed), `${name}, seed ${seed}, law of ${law}:`));
        }
        return { summary: `${count} programs` };
      },
    };
  }
});

/** Checks that a program still breaks the law that it is known to break. */
async function checkKnown(checked: Promise<void>, broken: string): Promise<void> {
  const error: unknown = await checked.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error(`${broken} it holds now, so remove the program from KNOWN_VIOLATIONS`);
  if (!error.message.startsWith(broken)) throw error;
}
