import type { EndpointConfig, EndpointLimits, KeyLimits, RateRequest } from "@hivepace/core";

/** A dimension in which a record counts, by the name that its limits use. */
export type Side = "requests" | "tokens" | "inputTokens" | "outputTokens";
export type Amounts = Readonly<Record<Side, number>>;

/** A request counted for one record, with its known cost. */
export interface Charge {
  readonly window: number;
  /** Whether input or output tokens had a limit, and were counted. */
  readonly isSplit: boolean;
  isInFlight: boolean;
  amounts: Amounts;
}

/** A key or an endpoint: its limits, and every charge ever counted for it. */
export interface Counted {
  limits: Limits;
  readonly charges: Charge[];
  /** Number of the first window that the model knows, after a change of limits below one. */
  unsureUntil: number;
}

export interface Limits extends Partial<Record<Side, number>> {
  readonly maxInFlightPerProcess?: number | undefined;
}

/** A limit that denies a request. */
export interface Against {
  readonly by: string;
  readonly isTooLarge: boolean;
}

/**
 * The weights of charges: 1 in their own window, and in a sliding window the remaining fraction for the previous one.
 */
export interface Moment {
  readonly window: number;
  readonly weightBefore: number;
}

/**
 * The limits of an endpoint as the manager applies them: none when the token limit is above the threshold of a mock.
 */
export function endpointLimits(config: EndpointLimits, mockAbove: number): Limits {
  if ((config.tpmLimit ?? 0) > mockAbove) return {};
  const { rpmLimit, tpmLimit, inputTpmLimit, outputTpmLimit, maxInFlightPerProcess } = config;
  return {
    ...wholeLimits({ requests: rpmLimit, tokens: tpmLimit, inputTokens: inputTpmLimit, outputTokens: outputTpmLimit }),
    ...(maxInFlightPerProcess === undefined ? {} : { maxInFlightPerProcess }),
  };
}

export function keyLimits({ rpmLimit, tpmLimit }: KeyLimits): Limits {
  return wholeLimits({ requests: rpmLimit, tokens: tpmLimit });
}

function wholeLimits(limits: Readonly<Partial<Record<Side, number | undefined>>>): Limits {
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined));
}

/**
 * The number of windows over which a dimension is counted: as many as the smallest limit below one needs to allow one.
 */
export function strideOf(limits: Limits, side: Side): number {
  const sides: Side[] =
    side === "requests" || side === "tokens" ? ["requests", "tokens"] : ["inputTokens", "outputTokens"];
  const slow = sides.map((each) => limits[each] ?? 1).filter((limit) => limit > 0 && limit < 1);
  return slow.length === 0 ? 1 : Math.ceil(1 / Math.min(...slow) - 1e-9);
}

export function isSplit({ inputTokens, outputTokens }: Limits): boolean {
  return inputTokens !== undefined || outputTokens !== undefined;
}

/** The amounts of a request. A missing part of the tokens is assumed to be all tokens except the other part. */
export function amountsOf({ tokens, inputTokens, outputTokens }: RateRequest): Amounts {
  const whole = Math.ceil(tokens);
  return {
    requests: 1,
    tokens: whole,
    inputTokens: inputTokens === undefined ? Math.max(0, whole - Math.ceil(outputTokens ?? 0)) : Math.ceil(inputTokens),
    outputTokens:
      outputTokens === undefined ? Math.max(0, whole - Math.ceil(inputTokens ?? 0)) : Math.ceil(outputTokens),
  };
}

/** The amount that a record has counted in one dimension. */
export function countOf({ charges, limits }: Counted, side: Side, { window, weightBefore }: Moment): number {
  const stride = strideOf(limits, side);
  const first = window - (window % stride);
  const isOfSplit = side === "inputTokens" || side === "outputTokens";
  let [count, before] = [0, 0];
  for (const charge of charges) {
    if (isOfSplit && !charge.isSplit) continue;
    if (charge.window - (charge.window % stride) === first) count += charge.amounts[side];
    else if (stride === 1 && charge.window === window - 1) before += charge.amounts[side];
  }
  return count + Math.max(0, before * weightBefore - 1e-6);
}

export function inFlightOf({ charges }: Counted): number {
  return charges.filter(({ isInFlight }) => isInFlight).length;
}

/**
 * Corrects a charge to its real cost. The charge of a past window changes only where several windows are counted
 * together.
 */
export function settle({ limits }: Counted, charge: Charge, amounts: Amounts, window: number): void {
  const corrected = Object.entries(amounts).map(([side, amount]) => {
    const isOver = charge.window !== window && strideOf(limits, side as Side) === 1;
    return [side, isOver ? charge.amounts[side as Side] : amount];
  });
  charge.amounts = Object.fromEntries(corrected) as Amounts;
  charge.isInFlight = false;
}

/** All limits of a record that deny a request. `slack` widens every limit. */
export function against(
  counted: Counted,
  amounts: Amounts,
  moment: Moment,
  prefix: "key" | "endpoint",
  slack: number,
): Against[] {
  const { limits } = counted;
  const found: Against[] = [];
  for (const [side, name] of Object.entries(NAMES) as [Side, string][]) {
    const given = limits[side];
    if (given === undefined) continue;
    const limit = given > 0 && given < 1 ? 1 : Math.floor(given);
    const isTooLarge = amounts[side] > limit;
    if (isTooLarge || countOf(counted, side, moment) + amounts[side] > limit + slack)
      found.push({ by: `${prefix}-${name}`, isTooLarge });
  }
  const { maxInFlightPerProcess } = limits;
  if (maxInFlightPerProcess !== undefined && inFlightOf(counted) >= maxInFlightPerProcess)
    found.push({ by: "endpoint-in-flight", isTooLarge: maxInFlightPerProcess === 0 });
  return found;
}

const NAMES = { requests: "rpm", tokens: "tpm", inputTokens: "input-tpm", outputTokens: "output-tpm" } as const;

/** The name of an endpoint's record. */
export function nameOf({ id, model }: Pick<EndpointConfig, "id" | "model">): string {
  return model === undefined ? id : `${id}/${model}`;
}
