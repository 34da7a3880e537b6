import { readFileSync } from "node:fs";
import { channelNames } from "@hivepace/core";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { eventMetrics, statusMetrics } from "../src/catalogue.ts";
import { spanNames } from "../src/tracing.ts";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");
const docs = read("../../../docs/observability.md");
const rows = docs.split("\n").filter((line) => line.startsWith("| "));
const first = (row: string): string => (row.split("|")[1] as string).trim().replaceAll("`", "");

test("the docs list exactly the metrics of the catalogue, each with its kind and unit", () => {
  const told = rows.filter((row) => /^\| `hivepace\.[a-z_.]+` \| (counter|histogram|gauge|up-down counter) /.test(row));
  const known = [...Object.values(eventMetrics), ...Object.values(statusMetrics)];
  expect(told.map((row) => row.split(" | ").slice(0, 3).join(" | "))).toEqual(
    known.map(
      ({ name, kind, unit }) => `| \`${name}\` | ${kind.replace("down-counter", "down counter")} | \`${unit}\``,
    ),
  );
});

test("the docs list each channel and each span", () => {
  const names = rows.map(first);
  expect(names.filter((name) => name.startsWith("hivepace:"))).toEqual(Object.values(channelNames));
  for (const name of Object.values(spanNames)) expect(names).toContain(name);
});

test("the docs list each attribute that the code writes", () => {
  const attributes = rows.map(first).flatMap((cell) => cell.split(", "));
  const sources = ["counting", "readings"].map((file) => read(`../src/${file}.ts`)).join("");
  const written = new Set([...sources.matchAll(/"hivepace\.([a-z_.]+)":/g)].map(([, name]) => name as string));
  expect(written.size).toBeGreaterThan(12);
  expect([...written].filter((name) => !attributes.includes(name))).toEqual([]);
});

test("the docs list exactly the alerts of the rules file", () => {
  const { groups } = parse(read("../alerts/hivepace.rules.yml")) as { groups: { rules: { alert: string }[] }[] };
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert)).sort();
  const told = rows.map(first).flatMap((cell) => cell.split(", "));
  expect(told.filter((name) => /^Hivepace[A-Z]/.test(name)).sort()).toEqual(alerts);
});
