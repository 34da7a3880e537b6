import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { type Program, printed } from "./program.ts";
import { FuzzWorld } from "./world.ts";

/** Runs a program. Resolves with what went wrong, or with undefined. */
export async function violationOf(program: Program): Promise<string | undefined> {
  const restore = seededIncarnations();
  try {
    await new FuzzWorld(program).run();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    restore();
  }
}

/** Throws when a program breaks a law: with the seed, the law, and the smallest program found that breaks any. */
export async function checkProgram(program: Program): Promise<void> {
  const wrong = await violationOf(program);
  if (wrong === undefined) return;
  const { program: small, wrong: why } = await shrink(program, wrong);
  throw new Error(`seed ${program.seed}: ${why}\nthe program:\n${printed(small)}`);
}

/** Leaves out commands, many at a time at first, as long as something still goes wrong; then hives, endpoints and options. */
async function shrink(program: Program, wrong: string): Promise<{ program: Program; wrong: string }> {
  let [best, why] = [program, wrong];
  const attempt = async (smaller: Program): Promise<boolean> => {
    const still = await violationOf(smaller);
    if (still === undefined) return false;
    [best, why] = [smaller, still];
    return true;
  };
  for (let size = Math.ceil(best.commands.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < best.commands.length; )
      if (!(await attempt({ ...best, commands: without(best.commands, from, size) }))) from += size;
  while (best.hives > 1 && (await attempt({ ...best, hives: best.hives - 1 })));
  if (best.bus === "lossy") await attempt({ ...best, bus: "perfect" });
  if (best.hives === 1 && best.bus !== "none") await attempt({ ...best, bus: "none" });
  for (let i = best.endpoints.length - 1; i >= 0 && best.endpoints.length > 1; i--)
    await attempt({ ...best, endpoints: without(best.endpoints, i, 1) });
  for (const key of Object.keys(best.keys)) {
    const { [key]: _, ...keys } = best.keys;
    await attempt({ ...best, keys });
  }
  for (const option of Object.keys(best.options))
    await attempt({ ...best, options: { ...best.options, [option]: undefined } });
  return { program: best, wrong: why };
}

function without<T>(list: readonly T[], from: number, count: number): T[] {
  return [...list.slice(0, from), ...list.slice(from + count)];
}

/** The random part of an incarnation follows from the order of the starts, so that a program always runs the same way. */
function seededIncarnations(): () => void {
  const { randomInt } = crypto;
  let next = 0;
  crypto.randomInt = (() => next++ % 1_000) as typeof randomInt;
  syncBuiltinESMExports();
  return () => {
    crypto.randomInt = randomInt;
    syncBuiltinESMExports();
  };
}
