import { expect, test } from "vitest";
import type { Scheme } from "./options.ts";
import { simulateSwarm } from "./simulate-swarm.ts";
import { swarmTable } from "./table.ts";

/** Twenty agents, a thousand requests a minute, uneven demand: what the schemes make of it. */
function run(scheme: Scheme, load = 3) {
  return simulateSwarm({
    seed: 1,
    scheme,
    agents: 20,
    limits: { requests: 1_000 },
    demand: { load, patienceMs: 30_000 },
    duration: 300_000,
  });
}

test("the hive uses the limit, keeps it and is fair; every other way lacks one of these", { timeout: 60_000 }, () => {
  const hive = run("hive");
  expect(hive).toMatchObject({ refused: 0 });
  expect(hive.use).toBeGreaterThan(0.96);
  expect(hive.max).toBeLessThanOrEqual(1);
  expect(hive.jain).toBeGreaterThan(0.98);

  const naive = run("naive");
  expect(naive.refused / naive.sent).toBeGreaterThan(0.02);
  expect(naive.use).toBeLessThan(0.5);
  const split = run("equal-split", 1.3);
  expect(split.refused).toBe(0);
  expect(split.use).toBeLessThan(0.85);
  expect(run("hive", 1.3).use).toBeGreaterThan(0.95);
  const gossip = run("gossip");
  expect(gossip.max).toBeGreaterThan(1.02);
  expect(gossip.refused).toBeGreaterThan(0);
  const drop = run("drop-ratio");
  expect(drop.max).toBeGreaterThan(1.02);
  expect(drop.jain).toBeLessThan(0.7);

  const reports = { hive, naive, "equal split": split, gossip, "drop ratio": drop };
  const table = swarmTable(Object.entries(reports).map(([name, report]) => ({ name, report })));
  expect(table.split("\n")).toHaveLength(7);
  expect(table).toContain("| equal split |");
});

test("a run is plain data", () => {
  const report = run("equal-split");
  expect(JSON.parse(JSON.stringify(report))).toEqual(report);
});
