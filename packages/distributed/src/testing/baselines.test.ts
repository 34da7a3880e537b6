import { expect, test } from "vitest";
import type { Scheme } from "./options.ts";
import { simulateEngine } from "./simulate-engine.ts";
import { swarmTable } from "./table.ts";

function run(scheme: Scheme) {
  return simulateEngine({
    seed: 1,
    scheme,
    agents: 5,
    limits: { requests: 1_000 },
    demand: { load: 3, patienceMs: 30_000 },
    duration: 120_000,
  });
}

test("the table has a row for each scheme", () => {
  const schemes = ["hive", "naive", "equal-split", "gossip", "drop-ratio"] as const;
  const table = swarmTable(schemes.map((name) => ({ name, report: run(name) })));
  expect(table.split("\n")).toHaveLength(7);
  expect(table).toContain("| equal-split |");
});

test("a report is plain data", () => {
  const report = run("equal-split");
  expect(JSON.parse(JSON.stringify(report))).toEqual(report);
});
