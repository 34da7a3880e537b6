import { violationOf } from "./run.ts";
import type { Program, Subject } from "./subject.ts";
import type { Violation } from "./violation.ts";

/** Maximum number of runs for one shrinking: a slow program must not take minutes. */
const MOST_RUNS = 500;

/**
 * Makes a program smaller while it breaks the same law: first removes commands, then simplifies the setup, then removes
 * arguments.
 */
export async function shrink<Setup, Command extends object>(
  subject: Subject<Setup, Command>,
  program: Program<Setup, Command>,
  violation: Violation,
): Promise<{ program: Program<Setup, Command>; violation: Violation }> {
  let best = { program, violation };
  let runs = 0;
  const attempt = async (smaller: Program<Setup, Command>): Promise<boolean> => {
    if (runs++ > MOST_RUNS) return false;
    const still = await violationOf(subject, smaller);
    if (still?.law !== violation.law) return false;
    best = { program: smaller, violation: still };
    return true;
  };
  for (let before = ""; before !== JSON.stringify(best.program); ) {
    before = JSON.stringify(best.program);
    await withoutCommands(() => best.program, attempt);
    await withSimplerSetup(subject, () => best.program, attempt);
    await withoutArguments(() => best.program, attempt);
  }
  return best;
}

type Attempt<Setup, Command> = (smaller: Program<Setup, Command>) => Promise<boolean>;

/** Removes commands, large blocks first. */
async function withoutCommands<Setup, Command>(
  best: () => Program<Setup, Command>,
  attempt: Attempt<Setup, Command>,
): Promise<void> {
  for (let size = Math.ceil(best().commands.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < best().commands.length; ) {
      const { commands } = best();
      const rest = [...commands.slice(0, from), ...commands.slice(from + size)];
      if (!(await attempt({ ...best(), commands: rest }))) from += size;
    }
}

async function withSimplerSetup<Setup, Command>(
  { simpler }: Subject<Setup, Command>,
  best: () => Program<Setup, Command>,
  attempt: Attempt<Setup, Command>,
): Promise<void> {
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (const setup of simpler(best().setup)) {
      isSmaller = await attempt({ ...best(), setup });
      if (isSmaller) break;
    }
  }
}

/** Removes arguments that the failure does not need, such as a priority. */
async function withoutArguments<Setup, Command extends object>(
  best: () => Program<Setup, Command>,
  attempt: Attempt<Setup, Command>,
): Promise<void> {
  for (let i = 0; i < best().commands.length; i++)
    for (const path of optionalPaths(best().commands[i] as object)) {
      const commands = [...best().commands];
      commands[i] = without(commands[i] as Command, path);
      await attempt({ ...best(), commands });
    }
}

/** Arguments that are optional in every command. */
const OPTIONAL = new Set([
  "priority",
  "timeoutMs",
  "signal",
  "key",
  "model",
  "session",
  "part",
  "burst",
  "kind",
  "concerns",
  "wasSent",
  "byCaller",
  "firstTier",
  "maxInFlight",
]);

function optionalPaths(value: object, path: readonly string[] = []): (readonly string[])[] {
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(OPTIONAL.has(name) ? [[...path, name]] : []),
    ...(typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? optionalPaths(inner, [...path, name])
      : []),
  ]);
}

function without<T>(value: T, [name, ...rest]: readonly string[]): T {
  if (name === undefined) return value;
  const { [name]: inner, ...others } = value as Record<string, unknown>;
  return (rest.length === 0 ? others : { ...others, [name]: without(inner, rest) }) as T;
}
