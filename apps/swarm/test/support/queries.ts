import { readFileSync } from "node:fs";
import { readQuery } from "../../../../packages/otel/test/support/promql.ts";

const read = (file: string): string =>
  readFileSync(new URL(`../../../../packages/otel/${file}`, import.meta.url), "utf8");

/** Returns the patterns of all metrics that the shipped Grafana dashboard and alert rules query. */
export function shippedQueries(): RegExp[] {
  const { panels } = JSON.parse(read("grafana/hivepace.json")) as {
    panels: readonly { targets?: readonly { expr: string }[] }[];
  };
  const rules = [...read("alerts/hivepace.rules.yml").matchAll(/^ +expr: (?:\|\n((?: {10,}.*\n)+)|(.+)$)/gm)];
  const queries = [
    ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ...rules.map(([, block, line]) => block ?? line ?? ""),
  ];
  const asked = queries.flatMap((query) => readQuery(query).metrics.map(({ source }) => source));
  return [...new Set(asked)].map((source) => new RegExp(source));
}
