import type { FakeProvider } from "@hivepace/provider";
import type { Plan } from "../plan.ts";
import type { Scenario } from "../scenarios.ts";
import { type Figures, fairness, type Served } from "./figures.ts";
import type { Swarm, Wanted } from "./swarm.ts";
import type { Ending } from "./verdict.ts";

export interface Outcome {
  readonly figures: Figures;
  readonly ending: Ending;
  /** Calls that nobody has an answer to, after all retries. */
  readonly failed: number;
  /** From the first agent's start on. */
  readonly tookMs: number;
}

/** What came of a run, as its swarm and its provider are at the end of it. */
export function outcomeOf(
  plan: Plan,
  swarm: Swarm,
  provider: FakeProvider,
  known: Pick<Figures, "bus" | "scenario" | "utilization">,
): Outcome {
  return {
    figures: figuresOf(plan, swarm, provider, known),
    ending: endingOf(plan, swarm, provider.agents),
    failed: swarm.failed,
    tookMs: swarm.aliveMs,
  };
}

function figuresOf(
  plan: Plan,
  { wanted, watch }: Swarm,
  { tally, agents, peak }: FakeProvider,
  { bus, scenario, utilization }: Pick<Figures, "bus" | "scenario" | "utilization">,
): Figures {
  const { rpm, tpm, windowMs, seed } = plan;
  return {
    limit: { rpm, tpm, windowMs },
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

/** What a swarm looks like from outside, at the end. */
interface Left {
  readonly wanted: readonly Pick<Wanted, "agentId" | "tokens">[];
  readonly watch: Pick<Swarm["watch"], "isReduced" | "isWhole">;
}

export function endingOf(
  { scenario: { pacing, noisy } }: { readonly scenario: Pick<Scenario, "pacing" | "noisy"> },
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
