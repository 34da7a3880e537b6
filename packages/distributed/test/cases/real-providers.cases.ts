import type { Case } from "@hivepace/verify";
import { checkSwarm } from "../../src/testing/check-swarm.ts";
import { realScenarios } from "../../src/testing/scenarios/real.ts";
import { type Figure, holds, type Scenario } from "../../src/testing/scenarios/scenario.ts";
import { summarized, wrongWith } from "../support/figures.ts";
import { slug } from "../support/slug.ts";
import { KNOWN_MISSES } from "./real-providers.misses.ts";

/** Real hives in front of providers that behave like real ones. */
const AGENTS = 10;
const SEED = 1;
/** Short cases that hold, for `test`. */
const QUICK = new Set([
  "real-providers/providers/2-percent-of-the-answers-are-server-errors",
  "real-providers/windows/600-a-minute-enforced-and-configured-each-1-s-among-2",
  "real-providers/providers/calls-of-1-to-120-s-counted-at-the-start-by-an-exact-estimate",
]);

export const cases: readonly Case[] = Object.entries(realScenarios).flatMap(([theme, scenarios]) =>
  scenarios.map((scenario) => realCase(theme, scenario)),
);

function realCase(theme: string, { name, options, figures }: Scenario): Case {
  const run = options(AGENTS);
  const agents = run.agents ?? AGENTS;
  const id = `real-providers/${theme}/${slug(name)}`;
  const missed = KNOWN_MISSES[id] ?? {};
  const isMissed = (figure: Figure): boolean => figure.name in missed;
  return {
    id,
    // Measured: about six times as long as the engine takes.
    seconds: 6 * (run.duration / 60_000) * (0.03 + 0.0004 * agents ** 1.8),
    isQuick: QUICK.has(id),
    run: async () => {
      // Laws must hold in every case, and figures unless they are known misses.
      const report = await checkSwarm({ ...run, agents, seed: SEED, drive: "hive" }, (outcome) =>
        wrongWith(figures(outcome, agents).filter((figure) => !isMissed(figure))),
      );
      const all = figures(report, agents);
      const { summary, figures: values } = summarized(all);
      const reached = all.filter((figure) => isMissed(figure) && holds(figure)).map((figure) => figure.name);
      const note = reached.length > 0 ? `; no longer missed, strike from KNOWN_MISSES: ${reached.join(", ")}` : "";
      return { summary: summary + note, ...(values ? { figures: values } : {}) };
    },
  };
}
