import type { EndpointConfig } from "@hivepace/core";
import type { Ask } from "./program.ts";

/** What a call uses of everything that can be limited. */
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

/** A part of the tokens that is not given may be all of them but the other part. */
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

/** Endpoints as the hive limits them: one with a higher limit of tokens than the threshold is a mock and has none. */
export function limited(endpoints: readonly EndpointConfig[], mockAbove = Infinity): EndpointConfig[] {
  return endpoints.map(({ id, model, ...limits }) => {
    const isMock = (limits.tpmLimit ?? 0) > mockAbove;
    return { id, ...(model === undefined ? {} : { model }), ...(isMock ? {} : limits) };
  });
}

/** The limits of an endpoint and their dimensions. */
export function limitsOf(config: EndpointConfig): { dimension: Dimension; limit: number }[] {
  return (Object.entries(LIMITS) as [keyof typeof LIMITS, Dimension][]).flatMap(([option, dimension]) => {
    const limit = config[option];
    return limit === undefined ? [] : [{ dimension, limit }];
  });
}

/** The endpoint or the model of it whose limits a call meets. */
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
