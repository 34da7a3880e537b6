import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { expectedOutput, outputOf } from "./support/run-program.ts";

const folder = new URL("../src/", import.meta.url);
const programs = readdirSync(folder).filter((file) => file.endsWith(".ts"));

test.each(programs)("%s prints what it says that it prints", async (name) => {
  const file = new URL(name, folder);
  expect(await outputOf(file)).toBe(expectedOutput(file));
});
