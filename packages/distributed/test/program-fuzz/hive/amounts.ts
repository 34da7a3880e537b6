import type { EndpointConfig } from "@hivepace/core";
import type { Ask } from "./program.ts";

/** The amounts that a call uses, by dimension. */
export interface Amounts {
  requests: number;
  tokens: number;
  inputTokens: number;
  outputTokens: number;
}

export type Dimension = keyof Amounts;

export const LIMITS = {
  rpmLimit: "requests",
  tpmLimit: "tokens",
  inputTpmLimit: "inputTokens",
  outputTpmLimit: "outputTokens",
} as const satisfies Partial<Record<keyof EndpointConfig, Dimension>>;

/** The amounts of a call. A missing part of the tokens is assumed to be all tokens except the other part. */
export function amountsOf({
  tokens,
  inputTokens,
  outputTokens,
}: Pick<Ask, "tokens" | "inputTokens" | "outputTokens">): Amounts {
  const all = tokens ?? (inputTokens ?? 0) + (outputTokens ?? 0);
  return {
    requests: 1,
    tokens: all,
    inputTokens: inputTokens ?? Math.max(0, all - (outputTokens ?? 0)),
    outputTokens: outputTokens ?? Math.max(0, all - (inputTokens ?? 0)),
  };
}

/**
 * The endpoints with the limits that the hive applies: an endpoint with a token limit above the threshold is a mock
 * without limits.
 */
export function limited(endpoints: readonly EndpointConfig[], mockAbove = Infinity): EndpointConfig[] {
  return endpoints.map(({ id, model, ...limits }) => {
    const isMock = (limits.tpmLimit ?? 0) > mockAbove;
    return { id, ...(model === undefined ? {} : { model }), ...(isMock ? {} : limits) };
  });
}

/** Lists the limits of an endpoint with their dimensions. */
export function limitsOf(config: EndpointConfig): { dimension: Dimension; limit: number }[] {
  return (Object.entries(LIMITS) as [keyof typeof LIMITS, Dimension][]).flatMap(([option, dimension]) => {
    const limit = config[option];
    return limit === undefined ? [] : [{ dimension, limit }];
  });
}

/** The configuration whose limits apply to a call: that of the endpoint, or of its model. */
export function configOf(
  endpoints: readonly EndpointConfig[],
  id: string,
  model: string | undefined,
): EndpointConfig | undefined {
  return (
    endpoints.find((each) => each.id === id && each.model !== undefined && each.model === model) ??
    endpoints.find((each) => each.id === id && each.model === undefined)
  );
}

export function nameOf({ id, model }: EndpointConfig): string {
  return model === undefined ? id : `${id}/${model}`;
}
