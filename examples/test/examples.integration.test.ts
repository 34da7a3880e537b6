import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { expectedOutput, outputOf } from "./support/run-program.ts";

const source = new URL("../src/", import.meta.url);
const programs = ["", "recipes/"].flatMap((folder) =>
  readdirSync(new URL(folder, source))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => folder + file),
);

test.each(programs)("%s prints the output in its last comment", async (name) => {
  const file = new URL(name, source);
  expect(await outputOf(file)).toBe(expectedOutput(file));
});
