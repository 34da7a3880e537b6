import { seededIncarnations } from "../../support/seeded-incarnations.ts";
import type { Program, Subject, World } from "./subject.ts";
import { Violation } from "./violation.ts";
import { captureWarnings } from "./warnings.ts";

/** Runs a program. Resolves with the violation, or with undefined when every law holds. */
export async function violationOf<Setup, Command>(
  subject: Subject<Setup, Command>,
  program: Program<Setup, Command>,
): Promise<Violation | undefined> {
  const restore = seededIncarnations();
  const warnings = captureWarnings();
  try {
    const world = await at("the start", () => subject.open(program, warnings));
    for (const [i, command] of program.commands.entries())
      await at(`command ${i + 1}, ${JSON.stringify(command)}`, () => step(world, command));
    await at("the end", () => world.end());
    return undefined;
  } catch (error) {
    return error as Violation;
  } finally {
    warnings.stop();
    restore();
  }
}

async function step<Command>(world: World<Command>, command: Command): Promise<void> {
  await world.run(command);
  world.check();
}

/** Adds the place in the program to a violation. Any other error violates the law of typed errors. */
async function at<T>(where: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Violation) throw new Violation(error.law, `${where}: ${error.message}`);
    throw new Violation("typed errors", `${where}: threw ${(error as Error)?.stack ?? error}`);
  }
}
