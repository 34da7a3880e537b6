import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { memoryBus } from "./memory-bus.ts";
import { promisesTable } from "./testing/promises-table.ts";

test("the README promises what the bus supports", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  expect(readme).toContain(promisesTable((await memoryBus()).supports));
});
