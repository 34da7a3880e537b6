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
  /** What the story told. */
  readonly story: string;
  readonly figures: Figures;
}

/** Deeper than by default: on a machine so busy that the agents hardly send, 60 % would not be felt. */
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
