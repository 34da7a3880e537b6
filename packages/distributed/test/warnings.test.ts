import { memoryBus } from "@hivepace/bus";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TestHives } from "./support/hives.ts";
import { collectWarnings } from "./support/warnings.ts";

const EU = { id: "eu", rpmLimit: 10 };

let hives: TestHives;
let warnings: ReturnType<typeof collectWarnings>;
beforeEach(() => {
  hives = new TestHives();
  warnings = collectWarnings();
});
afterEach(async () => {
  await hives.close();
  warnings.stop();
});

test("a hive without a bus is not warned that it is alone on the bus", async () => {
  const hive = await hives.alone({ endpoints: [{ id: "eu", tpmLimit: 1_000 }] });
  for (let i = 0; i < 60; i++) {
    hive.tryAcquire({ endpoint: "eu", tokens: 10 }).lease?.done({ tokens: 1 });
    await hives.clock.run(1_000);
  }
  expect(warnings.codes).not.toContain("HIVEPACE_ALONE");
});

test("a hive that meets nobody on its bus is warned once that it is alone", async () => {
  await hives.join({ endpoints: [EU], bus: memoryBus(hives.broker, { clock: hives.clock }) });
  await hives.clock.run(60_000);
  expect(warnings.codes.filter((code) => code === "HIVEPACE_ALONE")).toHaveLength(1);
});
