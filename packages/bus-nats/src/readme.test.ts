import { readFileSync } from "node:fs";
import { promisesTable } from "@hivepace/bus/testing";
import { expect, test } from "vitest";
import { natsSupports } from "./index.ts";

test("the README promises what the bus says of itself", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  expect(readme).toContain(promisesTable(natsSupports));
});
