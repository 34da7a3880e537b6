import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { TRUST_RULES } from "../src/engine/index.ts";

const rows = TRUST_RULES.map(({ what, unsigned, signed }) => `| ${what} | ${unsigned} | ${signed} |`);
const table = ["| changed by a message | without a `secret` | with a `secret` |", "|---|---|---|", ...rows].join("\n");

test("SECURITY.md contains the table of trust rules as the engine applies it", () => {
  expect(readFileSync(new URL("../../../SECURITY.md", import.meta.url), "utf8")).toContain(table);
});
