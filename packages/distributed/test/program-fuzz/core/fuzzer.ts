import { violationOf } from "./run.ts";
import { shrink } from "./shrink.ts";
import type { Program, Subject } from "./subject.ts";

/** A subject without the types of its programs, so that all subjects fit into one list. */
export interface Fuzzer {
  readonly name: string;
  /**
   * Runs the program of a seed. If the program breaks a law, throws an error with the law, the shrunk program, and the
   * command that repeats it.
   */
  check(seed: number): Promise<void>;
}

export function fuzzerOf<Setup, Command extends object>(subject: Subject<Setup, Command>): Fuzzer {
  return { name: subject.name, check: (seed) => checkProgram(subject, subject.generate(seed)) };
}

export async function checkProgram<Setup, Command extends object>(
  subject: Subject<Setup, Command>,
  program: Program<Setup, Command>,
): Promise<void> {
  const found = await violationOf(subject, program);
  if (!found) return;
  const { program: small, violation } = await shrink(subject, program, found);
  const { name } = subject;
  throw new Error(
    [
      `${name}, seed ${program.seed}, law of ${violation.law}: ${violation.message}`,
      "the program:",
      printed(small),
      `repeat it with: npx -y pnpm@12.18.0 swarm:programs ${name} ${program.seed}`,
    ].join("\n"),
  );
}

/** Prints a program with one command per line. */
function printed<Setup, Command>({ setup, commands }: Program<Setup, Command>): string {
  return [JSON.stringify(setup, plain), ...commands.map((command) => `  ${JSON.stringify(command, plain)}`)].join("\n");
}

/** Replaces NaN and Infinity, which JSON does not have, with text. */
function plain(_: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}
