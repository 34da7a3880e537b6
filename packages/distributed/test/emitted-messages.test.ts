import { expect, test, vi } from "vitest";
import { HiveProgram, LimiterProgram } from "./support/random-programs.ts";

vi.setConfig({ testTimeout: 300_000 });

const OPERATIONS = 40;
const PROGRAMS = 25;
/** Another part of all programs, for longer runs: `HIVEPACE_SEED=1000`. */
const FIRST_SEED = Number(process.env["HIVEPACE_SEED"] ?? 1);

test.each([
  ["limiters", LimiterProgram],
  ["hives", HiveProgram],
] as const)("whatever %s go through, everyone understands what they say", async (_, Program) => {
  vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  let messages = 0;
  for (let seed = FIRST_SEED; seed < FIRST_SEED + PROGRAMS; seed++) {
    const outcome = await new Program(seed).run(OPERATIONS);
    expect(outcome.problems, `seed ${seed}`).toEqual([]);
    messages += outcome.messages;
  }
  expect(messages).toBeGreaterThan(100 * PROGRAMS);
});
