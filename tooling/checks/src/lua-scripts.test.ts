import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { generatedFile, generateModule } from "./lua-scripts.ts";

test("the generated module holds the Lua scripts as they are now (npx -y pnpm@12.18.0 lua)", () => {
  expect(readFileSync(generatedFile, "utf8")).toBe(generateModule());
});
