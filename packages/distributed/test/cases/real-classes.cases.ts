import type { Case } from "@hivepace/verify";
import { canDrive } from "../../src/testing/can-drive.ts";
import { checkSwarm } from "../../src/testing/check-swarm.ts";
import { swarmScenarios } from "../../src/testing/scenarios/index.ts";
import type { Scenario } from "../../src/testing/scenarios/scenario.ts";
import { summarized, wrongWith } from "../support/figures.ts";
import { slug } from "../support/slug.ts";

/** Every scenario of the engine, run on hives and limiters with ten agents: the same figures must hold. */
const AGENTS = 10;
const SEED = 1;
const DRIVES = ["hive", "limiter"] as const;

/** One scenario of each kind, for `test`. */
const QUICK = new Set([
  "real-classes/hive/steady/30-percent-of-the-limit",
  "real-classes/hive/steady/as-many-agents-as-requests-in-a-window",
  "real-classes/hive/steady/all-agents-have-calls-waiting-at-the-start",
  "real-classes/hive/steady/a-window-of-one-second",
  "real-classes/hive/membership/a-newcomer-in-an-idle-swarm-then-a-burst-at-all-agents",
  "real-classes/hive/membership/half-of-the-agents-crash",
  "real-classes/hive/mistakes/a-limit-that-one-agent-learns-reaches-all-within-a-heartbeat",
  "real-classes/hive/outages/all-agents-start-while-the-bus-is-away-without-expectedagents",
  "real-classes/hive/congestion/100-percent-of-the-agents-are-refused-at-once",
  "real-classes/hive/store/granted-by-a-store-30-percent-of-the-limit",
  "real-classes/limiter/outages/20-percent-loss",
  "real-classes/limiter/congestion/50-percent-of-the-agents-are-refused-at-once",
]);

/** Scenarios that do not apply to a drive. */
const INAPPLICABLE = new Set([
  // A limiter charges the cost that its caller gives. Only leases of hives report the real usage of a call.
  "real-classes/limiter/tokens/the-usage-of-a-call-is-known-only-afterwards",
]);

/** Known figures that hives or limiters miss at present. All other cases are checked. */
const KNOWN_MISSES = new Set([
  // Usage is 89.4 % of the limit; the goal is 90 %, and the engine reaches 91.5 %.
  "real-classes/hive/tokens/a-hundredth-of-the-calls-takes-60-percent-of-the-limit",
  // Usage reaches 1.002 of the limit, as is possible at this loss, and the provider's answer causes a second cut, where one is
  // allowed. The limiter holds the limit.
  "real-classes/hive/congestion/a-refusal-while-50-percent-of-the-messages-are-lost",
]);

export const cases: readonly Case[] = DRIVES.flatMap((drive) =>
  Object.entries(swarmScenarios).flatMap(([theme, scenarios]) =>
    scenarios
      .filter((scenario) => canDrive(drive, scenario.options(AGENTS)))
      .map((scenario) => realCase(drive, theme, scenario)),
  ),
).filter(({ id }) => !KNOWN_MISSES.has(id) && !INAPPLICABLE.has(id));

function realCase(drive: (typeof DRIVES)[number], theme: string, { name, options, figures }: Scenario): Case {
  const run = options(AGENTS);
  const agents = run.agents ?? AGENTS;
  const id = `real-classes/${drive}/${theme}/${slug(name)}`;
  return {
    id,
    // Measured: about five times as long as the engine takes.
    seconds: 5 * (run.duration / 60_000) * (0.03 + 0.0004 * agents ** 1.8),
    isQuick: QUICK.has(id),
    run: async () => {
      // The engine recovers in steps in these scenarios; measured cuts have their own cases.
      const report = await checkSwarm({ ...run, agents, seed: SEED, drive, recovery: "stepped" }, (outcome) =>
        wrongWith(figures(outcome, agents)),
      );
      return summarized(figures(report, agents));
    },
  };
}
