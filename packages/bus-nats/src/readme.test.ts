import { readFileSync } from "node:fs";
import { promisesTable } from "@hivepace/bus/testing";
import { expect, test } from "vitest";
import { natsSupports } from "./index.ts";

test("the README states the capabilities that the bus reports", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  expect(readme).toContain(promisesTable(natsSupports));
});
