import { InvalidConfigError, type RequestDetails, type UsedTokens } from "@hivepace/core";
import type { HiveDimension } from "./hive-types.ts";

/** Amounts of all dimensions. */
export type Use = Readonly<Record<HiveDimension, number>>;

export const DIMENSIONS: readonly HiveDimension[] = ["requests", "tokens", "inputTokens", "outputTokens"];

/** The amounts in the order of `DIMENSIONS`. */
export function allOf({ requests, tokens, inputTokens, outputTokens }: Use): number[] {
  return [requests, tokens, inputTokens, outputTokens];
}

/** The estimated usage of a request. */
export function useOf(request: RequestDetails): Use {
  const { inputTokens, outputTokens, tokens } = request;
  return withParts(tokens ?? (inputTokens ?? 0) + (outputTokens ?? 0), inputTokens, outputTokens);
}

/** The actual usage of a call; parts that were not reported keep their estimate. */
export function usedOf(used: UsedTokens, thought: Use): Use {
  const { inputTokens, outputTokens } = used;
  const isSplit = inputTokens !== undefined && outputTokens !== undefined;
  const tokens = used.tokens ?? (isSplit ? inputTokens + outputTokens : thought.tokens);
  if (used.tokens !== undefined || isSplit) return withParts(tokens, inputTokens, outputTokens);
  return withParts(tokens, inputTokens ?? thought.inputTokens, outputTokens ?? thought.outputTokens);
}

/** The change from an estimate to another one, or to the actual usage. */
export function moreThan(use: Use, used: Use): Use {
  return {
    requests: 0,
    tokens: used.tokens - use.tokens,
    inputTokens: used.inputTokens - use.inputTokens,
    outputTokens: used.outputTokens - use.outputTokens,
  };
}

/** Weight of the latest call in the mean of all calls. */
const LAST_CALL = 0.1;

/** The mean usage of calls after one more call, in whole tokens and at least one. */
export function meanOf(mean: Use, last: Use): Use {
  return {
    requests: 1,
    tokens: mix(mean.tokens, last.tokens),
    inputTokens: mix(mean.inputTokens, last.inputTokens),
    outputTokens: mix(mean.outputTokens, last.outputTokens),
  };
}

function mix(mean: number, last: number): number {
  return Math.max(1, Math.ceil(mean === 0 ? last : mean + LAST_CALL * (last - mean)));
}

/** Completes a missing part as the total minus the other part. */
function withParts(tokens: number, inputTokens: number | undefined, outputTokens: number | undefined): Use {
  check("tokens", tokens);
  if (inputTokens !== undefined) check("inputTokens", inputTokens);
  if (outputTokens !== undefined) check("outputTokens", outputTokens);
  return {
    requests: 1,
    tokens,
    inputTokens: inputTokens ?? Math.max(0, tokens - (outputTokens ?? 0)),
    outputTokens: outputTokens ?? Math.max(0, tokens - (inputTokens ?? 0)),
  };
}

function check(option: string, value: number): void {
  if (!(Number.isFinite(value) && value >= 0))
    throw new InvalidConfigError(option, "a finite number of 0 or more", value);
}
