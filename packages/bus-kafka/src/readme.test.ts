import { readFileSync } from "node:fs";
import { promisesTable } from "@hivepace/bus/testing";
import { expect, test } from "vitest";
import { kafkaSupports } from "./index.ts";

test("the README promises what the bus says it supports", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  expect(readme).toContain(promisesTable(kafkaSupports));
});
