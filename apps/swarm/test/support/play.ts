import { bundleAgent } from "../../src/dev/bundle-agent.ts";
import { OptionError, parseOptions } from "../../src/options.ts";
import { type Plan, planOf } from "../../src/plan.ts";
import type { Figures } from "../../src/run/figures.ts";
import { playDemo } from "../../src/run-demo.ts";
import { scenarios } from "../../src/scenarios.ts";
import type { DemoWorld } from "../../src/world.ts";

export interface Played {
  readonly code: number;
  readonly out: string;
  /** The printed log. */
  readonly story: string;
  readonly figures: Figures;
}

/** A deeper cut than the default: on a busy machine the agents send so little that a cut to 60 % may refuse nothing. */
export const deepCut: Partial<Plan> = {
  scenario: {
    ...scenarios.cut,
    steps: [
      { at: 0.3, deed: { type: "limit", part: 0.2 } },
      { at: 0.3, windowsLater: 0.7, deed: { type: "limit", part: 1 } },
    ],
  },
};

/** Plays the demo in this process with `--json`, on a plan that may be changed first. */
export async function play(
  args: readonly string[],
  change: Partial<Plan> = {},
  world: Partial<DemoWorld> = {},
): Promise<Played> {
  const [out, err]: [string[], string[]] = [[], []];
  const options = parseOptions([...args, "--json"]);
  if (options === undefined) throw new OptionError("play cannot run --help");
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
