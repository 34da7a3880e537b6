/** Tokens of a call: constant, uniform in a range, or lognormal, as with language models. */
export type CostModel =
  | number
  | { readonly from: number; readonly to: number }
  | {
      readonly median: number;
      readonly sigma: number;
      readonly from: number;
      readonly to: number;
      /** This fraction of the calls has this size instead. */
      readonly rare?: { readonly part: number; readonly tokens: number } | undefined;
      /** Real usage as a multiple of the estimate, uniform in this range. Default: usage equals the estimate. */
      readonly actual?: readonly [number, number] | undefined;
    };

/**
 * Sizes as observed in practice: a median of 1,500 tokens, and one call in several hundred reaches the maximum of
 * 30,000.
 */
export const typicalTokens = { median: 1_500, sigma: 1, from: 50, to: 30_000 } as const;

export interface Cost {
  readonly expected: number;
  readonly actual: number;
}

export function drawCost(model: CostModel, random: () => number): Cost {
  if (typeof model === "number") return { expected: model, actual: model };
  if (!("median" in model)) {
    const tokens = Math.round(model.from + (model.to - model.from) * random());
    return { expected: tokens, actual: tokens };
  }
  const { median, sigma, from, to, rare, actual } = model;
  let expected = Math.round(drawSize({ median, sigma, from, to }, random));
  if (rare && random() < rare.part) expected = rare.tokens;
  if (!actual) return { expected, actual: expected };
  const [least, most] = actual;
  return { expected, actual: Math.max(1, Math.round(expected * (least + (most - least) * random()))) };
}

/** Draws a lognormal size between two bounds. */
export function drawSize(
  { median, sigma, from, to }: { median: number; sigma: number; from: number; to: number },
  random: () => number,
): number {
  return Math.min(to, Math.max(from, median * Math.exp(sigma * normal(random))));
}

/** Draws an estimate for a call that will use `actual` tokens. */
export function drawEstimate(
  actual: number,
  { bias, spread }: { readonly bias: number; readonly spread: number },
  random: () => number,
): number {
  return Math.max(1, Math.round(actual * bias * Math.exp(spread * normal(random))));
}

/** Estimates the mean real usage of a call by sampling. */
export function meanCost(model: CostModel, random: () => number): number {
  if (typeof model === "number") return model;
  const samples = 20_000;
  let sum = 0;
  for (let i = 0; i < samples; i++) sum += drawCost(model, random).actual;
  return sum / samples;
}

/** Draws a standard normal number by the Box-Muller transform. */
function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
