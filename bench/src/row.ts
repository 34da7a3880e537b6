import type { Spread } from "./statistics.ts";

/** A measurement, and the claim about it, if any. */
export interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** The contender that `ratio` compares with. */
  readonly against?: string;
  readonly ratio?: Spread;
  readonly wanted?: Wanted;
  readonly note?: string;
}

export interface Wanted {
  readonly of: "ratio" | "value";
  readonly direction: "below" | "at most" | "at least";
  readonly limit: number;
}

export type Verdict = "PASS" | "MISS";

/** Returns the verdict by the median; the spread is informative only. */
export function verdictOf(row: Row): Verdict | undefined {
  const { wanted } = row;
  if (wanted === undefined) return undefined;
  const measured = wanted.of === "value" ? row.value : row.ratio?.median;
  if (measured === undefined) throw new Error(`"${row.what}" has a claim on a ratio, but no ratio was measured`);
  return holds(measured, wanted) ? "PASS" : "MISS";
}

function holds(measured: number, { direction, limit }: Wanted): boolean {
  switch (direction) {
    case "below":
      return measured < limit;
    case "at most":
      return measured <= limit;
    case "at least":
      return measured >= limit;
  }
}
