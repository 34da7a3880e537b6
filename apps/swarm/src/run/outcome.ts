import type { FakeProvider } from "@hivepace/provider";
import type { Plan } from "../plan.ts";
import type { Pacing } from "../rows.ts";
import type { Scenario } from "../scenarios.ts";
import { type Figures, fairness, type Served } from "./figures.ts";
import type { Swarm, Wanted } from "./swarm.ts";
import type { Ending } from "./verdict.ts";

export interface Outcome {
  readonly figures: Figures;
  readonly ending: Ending;
}

/** Summarizes a run from the final state of its swarm and its provider. */
export function outcomeOf(
  plan: Plan,
  swarm: Swarm,
  provider: FakeProvider,
  known: Pick<Figures, "bus" | "scenario" | "utilization">,
): Outcome {
  return {
    figures: figuresOf(plan, swarm, provider, known),
    ending: endingOf(plan, swarm, provider.agents),
  };
}

function figuresOf(
  plan: Plan,
  { wanted, watch }: Swarm,
  { tally, agents, peak }: FakeProvider,
  { bus, scenario, utilization }: Pick<Figures, "bus" | "scenario" | "utilization">,
): Figures {
  const { rpm, tpm, windowMs, speed, seed } = plan;
  return {
    limit: { rpm, tpm, windowMs },
    speed: rounded(speed),
    sent: tally.sent,
    accepted: tally.accepted,
    rejected429: tally.rejected429,
    utilization: rounded(utilization),
    maxWindowRatio: rounded(peak),
    jain: rounded(fairness(plan, wanted, agents)),
    reductions: watch.reductions,
    recoveries: watch.recoveries,
    agents: wanted.length,
    bus,
    scenario,
    seed,
  };
}

/** The state of a swarm at the end of a run. */
interface Left {
  readonly wanted: readonly Pick<Wanted, "agentId" | "tokens">[];
  readonly watch: Pick<Swarm["watch"], "isReduced" | "isWhole">;
}

export function endingOf(
  { pacing, scenario: { noisy } }: { readonly pacing: Pacing; readonly scenario: Pick<Scenario, "noisy"> },
  { watch, wanted }: Left,
  served: ReadonlyMap<string, Pick<Served, "tokens">>,
): Ending {
  const ending = { isTogether: pacing === "hive", isRecovered: !watch.isReduced, isWhole: watch.isWhole };
  if (noisy === undefined) return ending;
  const others = wanted.filter((_, i) => i !== noisy);
  const got = sumOf(others, ({ agentId }) => served.get(agentId)?.tokens ?? 0);
  return {
    ...ending,
    othersServed:
      got /
      Math.max(
        1,
        sumOf(others, ({ tokens }) => tokens),
      ),
  };
}

function sumOf<T>(all: readonly T[], amount: (one: T) => number): number {
  return all.reduce((sum, one) => sum + amount(one), 0);
}

const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;
