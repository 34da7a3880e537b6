import { expect, test } from "vitest";
import { planOf } from "../plan.ts";
import { fairness, Use } from "./figures.ts";

const plan = planOf({ agents: 2, rpm: 100, tpm: 1_000, scenario: "calm", duration: 40, seed: 1 });

test("utilization is the accepted fraction of the scarcer limit, also while limits change", () => {
  const use = new Use(1_000);
  expect(use.utilization).toBe(0);
  use.sample(0, { rpm: 10, tpm: 100 }, { accepted: 5, tokens: 10 });
  use.sample(1_000, { rpm: 10, tpm: 100 }, { accepted: 15, tokens: 60 });
  expect(use.utilization).toBe(1);
  use.sample(3_000, { rpm: 5, tpm: 100 }, { accepted: 20, tokens: 70 });
  expect(use.utilization).toBeCloseTo(15 / 20);
  use.sample(4_000, { rpm: 5, tpm: 100 }, { accepted: 21, tokens: 400 });
  expect(use.utilization).toBeCloseTo(390 / 400);
});

test("an agent that runs for half of the time and is served half counts as served fairly", () => {
  const wanted = [
    { agentId: "a", calls: 100, tokens: 100, aliveMs: 40_000 },
    { agentId: "b", calls: 50, tokens: 50, aliveMs: 20_000 },
    { agentId: "too short", calls: 50, tokens: 50, aliveMs: 100 },
  ];
  const served = new Map([
    ["a", { accepted: 40, tokens: 40 }],
    ["b", { accepted: 20, tokens: 20 }],
  ]);
  expect(fairness(plan, wanted, served)).toBe(1);
});
