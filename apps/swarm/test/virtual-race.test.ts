import { expect, test } from "vitest";
import { planOf } from "../src/plan.ts";
import { pacings } from "../src/rows.ts";
import { virtualRow } from "./support/virtual-row.ts";

const plan = planOf({ agents: 8, rpm: undefined, tpm: undefined, scenario: "cut", duration: 30, seed: 1 });

test("through a cut Hivepace loses no call, and finishes more tasks than any other row", async () => {
  const rows = new Map<string, Awaited<ReturnType<typeof virtualRow>>>();
  for (const pacing of pacings) rows.set(pacing, await virtualRow({ ...plan, pacing }));
  const { hive, ...others } = Object.fromEntries(rows);
  if (hive === undefined) throw new Error("the demo has no row for Hivepace");
  expect(hive).toMatchObject({ tasksFailed: 0, callsFailed: 0 });
  expect(hive.refused).toBeLessThan(20);
  expect(hive.tasksFinished).toBeGreaterThan(25);
  for (const [name, row] of Object.entries(others)) {
    expect(row.tasksFinished, name).toBeLessThan(hive.tasksFinished);
    expect(row.tasksFailed, name).toBeGreaterThan(0);
    expect(row.refused, name).toBeGreaterThan(hive.refused);
  }
});
