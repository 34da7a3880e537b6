import type { EndpointConfig } from "@hivepace/core";
import type { HiveEndpoint } from "../../../src/index.ts";
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
export function limited(endpoints: readonly HiveEndpoint[], mockAbove = Infinity): HiveEndpoint[] {
  return endpoints.map(({ id, model, models, ...limits }) => {
    const isMock = (limits.tpmLimit ?? 0) > mockAbove;
    return {
      id,
      ...(model === undefined ? {} : { model }),
      ...(models === undefined ? {} : { models }),
      ...(isMock ? {} : limits),
    };
  });
}

/** Lists the limits of an endpoint with their dimensions. */
export function limitsOf(config: EndpointConfig): { dimension: Dimension; limit: number }[] {
  return (Object.entries(LIMITS) as [keyof typeof LIMITS, Dimension][]).flatMap(([option, dimension]) => {
    const limit = config[option];
    return limit === undefined ? [] : [{ dimension, limit }];
  });
}

/** The configuration whose limits apply to a call: that of the endpoint, of its model, or of a pool with its model. */
export function configOf(
  endpoints: readonly HiveEndpoint[],
  id: string,
  model: string | undefined,
): HiveEndpoint | undefined {
  return (
    endpoints.find((each) => each.id === id && model !== undefined && modelsOf(each).includes(model)) ??
    endpoints.find((each) => each.id === id && modelsOf(each).length === 0)
  );
}

/** The models that a configuration names; empty for the whole endpoint. */
export function modelsOf({ model, models }: EndpointConfig): readonly string[] {
  return models ?? (model === undefined ? [] : [model]);
}

export function nameOf(config: EndpointConfig): string {
  return [config.id, ...[...modelsOf(config)].sort()].join("/");
}
