import type { Case } from "@hivepace/verify";
import { canDrive } from "../../src/testing/can-drive.ts";
import { checkSwarm } from "../../src/testing/check-swarm.ts";
import { swarmScenarios } from "../../src/testing/scenarios/index.ts";
import type { Scenario } from "../../src/testing/scenarios/scenario.ts";
import { summarized, wrongWith } from "../support/figures.ts";
import { slug } from "../support/slug.ts";

/** Every scenario of the engine on the objects that programs use, with ten agents: the same figures must hold. */
const AGENTS = 10;
const SEED = 1;
const DRIVES = ["hive", "limiter"] as const;

/** One scenario of each kind, for `test`. */
const QUICK = new Set<string>([]);

/** Figures that real classes miss: weaknesses that are known and open. The other cases are checked. */
const KNOWN_MISSES = new Map<string, string>([]);

export const cases: readonly Case[] = DRIVES.flatMap((drive) =>
  Object.entries(swarmScenarios).flatMap(([theme, scenarios]) =>
    scenarios
      .filter((scenario) => canDrive(drive, scenario.options(AGENTS)))
      .map((scenario) => realCase(drive, theme, scenario)),
  ),
).filter(({ id }) => !KNOWN_MISSES.has(id));

function realCase(drive: (typeof DRIVES)[number], theme: string, { name, options, figures }: Scenario): Case {
  const run = options(AGENTS);
  const agents = run.agents ?? AGENTS;
  const id = `real-classes/${drive}/${theme}/${slug(name)}`;
  return {
    id,
    // Measured: about five times the engine's.
    seconds: 5 * (run.duration / 60_000) * (0.03 + 0.0004 * agents ** 1.8),
    isQuick: QUICK.has(id),
    run: async () => {
      const report = await checkSwarm({ ...run, agents, seed: SEED, drive }, (outcome) =>
        wrongWith(figures(outcome, agents)),
      );
      return summarized(figures(report, agents));
    },
  };
}
