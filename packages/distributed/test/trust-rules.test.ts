import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { TRUST_RULES } from "../src/engine/index.ts";
import { BOUNDS } from "../src/wire/bounds.ts";

const rows = TRUST_RULES.map(({ what, fields, unsigned, signed }) => {
  const names = fields.map((field) => `\`${field}\``).join(", ");
  return `| ${what}${names && ` (${names})`} | ${unsigned} | ${signed} |`;
});
const table = ["| changed by a message | without a `secret` | with a `secret` |", "|---|---|---|", ...rows].join("\n");

test("SECURITY.md contains the table of trust rules as the engine applies it", () => {
  expect(readFileSync(new URL("../../../SECURITY.md", import.meta.url), "utf8")).toContain(table);
});

test("every numeric field of a message has a trust rule, by its own name or by that of its group", () => {
  const groups = { climb: "level", park: "availability" } as Readonly<Record<string, string>>;
  const ruled = new Set(TRUST_RULES.flatMap(({ fields }) => fields));
  for (const [section, fields] of Object.entries(BOUNDS))
    for (const field of Object.keys(fields)) {
      const names = [field, section, groups[section] ?? section];
      expect(
        names.some((name) => ruled.has(name)),
        `${section}.${field}`,
      ).toBe(true);
    }
});

test("every field of the documented wire format has a trust rule", () => {
  const wire = readFileSync(new URL("../../../docs/wire.md", import.meta.url), "utf8");
  const [presence = ""] = wire.slice(wire.indexOf("## `ratelimit.presence`")).split("`availability` of a message");
  const documented = presence
    .split("\n")
    .flatMap((line) => (/^\| (`[^|]*) \|/.exec(line)?.[1] ?? "").match(/\w+/g) ?? []);
  expect(documented.length).toBeGreaterThan(25);
  const ruled = new Set(TRUST_RULES.flatMap(({ fields }) => fields));
  // The version decides whether a message is read, and `pools` holds the reports.
  for (const field of documented.filter((name) => name !== "v" && name !== "pools")) expect(ruled).toContain(field);
});
