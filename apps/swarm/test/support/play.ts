import { bundleAgent } from "../../src/dev/bundle-agent.ts";
import { OptionError, parseOptions } from "../../src/options.ts";
import { type Plan, planOf } from "../../src/plan.ts";
import type { Figures } from "../../src/run/figures.ts";
import { playDemo } from "../../src/run-demo.ts";
import type { DemoWorld } from "../../src/world.ts";

export interface Played {
  readonly code: number;
  readonly out: string;
  /** What the story told. */
  readonly story: string;
  readonly figures: Figures;
}

/** Plays the demo in this process with `--json`, on a plan that may be changed first. */
export async function play(
  args: readonly string[],
  change: Partial<Plan> = {},
  world: Partial<DemoWorld> = {},
): Promise<Played> {
  const [out, err]: [string[], string[]] = [[], []];
  const options = parseOptions([...args, "--json"]);
  if (options === undefined) throw new OptionError("that asks for help");
  const code = await playDemo(
    options,
    { ...planOf(options), ...change },
    {
      stdout: { write: (text) => out.push(text) },
      stderr: { write: (text) => err.push(text) },
      signal: new AbortController().signal,
      agentFile: bundleAgent,
      ...world,
    },
  );
  return { code, out: out.join(""), story: err.join(""), figures: JSON.parse(out.join("")) as Figures };
}
