import assert from "node:assert/strict";
import type { Case } from "@hivepace/verify";
import type { Scheme, SimulationOptions } from "../../src/testing/options.ts";
import { simulateEngine } from "../../src/testing/simulate-engine.ts";

/** Swarms of a fixed size, each of which demonstrates one property. */
export const cases: readonly Case[] = [
  { id: "fixed-swarms/a-limit-of-3-among-10-agents-serves-all-in-turn", seconds: 2, isQuick: true, run: inTurn },
  { id: "fixed-swarms/2-busy-agents-of-40-use-the-whole-limit", seconds: 2, isQuick: true, run: fewBusy },
  { id: "fixed-swarms/every-other-scheme-lacks-use-safety-or-fairness", seconds: 6, isQuick: true, run: schemes },
];

function inTurn() {
  const { served } = simulateEngine({
    seed: 1,
    agents: 10,
    limits: { requests: 3 },
    demand: { load: 5, skew: 0 },
    duration: 1_200_000,
  });
  const spread = Math.max(...served) - Math.min(...served);
  // Ten agents take turns at three places, so that their totals differ by one or two calls at most.
  assert.ok(spread <= 2 / 3 + 1e-9, `agents got amounts that differ by ${spread} of the limit`);
  assert.ok(Math.min(...served) > 0, "every agent is served");
  return { figures: { spread } };
}

function fewBusy() {
  const { use } = simulateEngine({
    seed: 1,
    agents: 40,
    limits: { requests: 6_000 },
    demand: { load: 2, skew: (agent) => (agent < 2 ? 0.5 : 0), maxQueue: 1_000 },
    duration: 240_000,
  });
  assert.ok(use > 0.97, `two busy agents of forty use ${use} of the limit`);
  return { figures: { use } };
}

/** Compares Hivepace with other schemes: twenty agents, a thousand requests a minute, uneven demand. */
function schemes() {
  const hive = run("hive");
  assert.equal(hive.refused, 0, "the provider refuses nothing to the hive");
  above("use of the hive", hive.use, 0.96);
  below("usage of the hive", hive.max, 1 + 1e-9);
  above("fairness of the hive", hive.jain, 0.98);
  above("use of the hive at 1.3 times the limit", run("hive", 1.3).use, 0.95);

  const naive = run("naive");
  above("refused part when every agent has the whole limit", naive.refused / naive.sent, 0.02);
  below("use when every agent has the whole limit", naive.use, 0.5);
  const split = run("equal-split", 1.3);
  assert.equal(split.refused, 0, "an equal split is never refused");
  below("use of an equal split", split.use, 0.85);
  const gossip = run("gossip");
  above("usage with gossip", gossip.max, 1.02);
  assert.ok(gossip.refused > 0, "gossip runs into refusals");
  const drop = run("drop-ratio");
  above("usage with a drop ratio", drop.max, 1.02);
  below("fairness of a drop ratio", drop.jain, 0.7);
  return { figures: { use: hive.use, max: hive.max, jain: hive.jain } };
}

function run(scheme: Scheme, load = 3) {
  const options: SimulationOptions = {
    seed: 1,
    scheme,
    agents: 20,
    limits: { requests: 1_000 },
    demand: { load, patienceMs: 30_000 },
    duration: 300_000,
  };
  return simulateEngine(options);
}

function above(name: string, value: number, bound: number): void {
  assert.ok(value > bound, `${name} is ${value}, which must be above ${bound}`);
}

function below(name: string, value: number, bound: number): void {
  assert.ok(value < bound, `${name} is ${value}, which must be below ${bound}`);
}
