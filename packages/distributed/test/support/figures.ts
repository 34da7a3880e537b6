import type { CaseResult } from "@hivepace/verify";
import { type Figure, holds } from "../../src/testing/scenarios/scenario.ts";

/** Describes the figures that are out of bounds; undefined when all are within. */
export function wrongWith(figures: readonly Figure[]): string | undefined {
  const wrong = figures.filter((figure) => !holds(figure));
  return wrong.length === 0 ? undefined : wrong.map(inWords).join(", ");
}

/** The figures of a case as text and as data. */
export function summarized(figures: readonly Figure[]): CaseResult & { readonly summary: string } {
  return {
    summary: figures.map(inWords).join(", "),
    figures: Object.fromEntries(figures.map(({ name, value }) => [name, value])),
  };
}

function inWords({ name, value, least, most }: Figure): string {
  return `${name} ${Number(value.toFixed(3))} (${least === undefined ? `≤ ${most}` : `≥ ${least}`})`;
}
