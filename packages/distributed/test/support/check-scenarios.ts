import { test } from "vitest";
import { checkSwarm } from "../../src/testing/check-swarm.ts";
import { swarmScenarios } from "../../src/testing/scenarios/index.ts";
import { holds } from "../../src/testing/scenarios/scenario.ts";

const AGENTS = 10;
const SEED = 1;

/** Runs all scenarios of a theme, with ten agents if not told otherwise. Thousands of seeds and larger swarms are for the command. */
export function checkScenarios(theme: keyof typeof swarmScenarios, count = AGENTS): void {
  test.each(swarmScenarios[theme])("$name", { timeout: 60_000 }, ({ options, figures }) => {
    const run = options(count);
    const agents = run.agents ?? count;
    checkSwarm({ ...run, agents, seed: SEED }, (report) => {
      const wrong = figures(report, agents).filter((figure) => !holds(figure));
      return wrong.length === 0 ? undefined : JSON.stringify(wrong);
    });
  });
}
