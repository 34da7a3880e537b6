import type { LimitDimension, LimitObservation, ObservedLimit } from "@hivepace/core";
import { rulesOf } from "../call/provider-rules.ts";
import type { ProviderSignal, SignalDimension } from "../signal/provider-signal.ts";

/** Which of our dimensions a provider's name or unit means. Others are limits of something that we do not count. */
const MEANING: Readonly<Record<string, LimitDimension>> = {
  requests: "requests",
  requests_trial: "requests",
  tokens: "tokens",
  project_tokens: "tokens",
  input_tokens: "input_tokens",
  output_tokens: "output_tokens",
};

/**
 * What an answer teaches about limits; undefined when that is nothing. Of two limits on one dimension the one with less
 * left counts. 0 and less are no limits but the lack of a plan; those are left out.
 */
export function observationOf(
  signal: ProviderSignal,
  target: { readonly endpoint: string; readonly model?: string | undefined; readonly provider?: string | undefined },
): LimitObservation | undefined {
  const limits: { [D in LimitDimension]?: ObservedLimit } = {};
  for (const [name, found] of Object.entries(signal.dims)) {
    const dimension = dimensionOf(name, found);
    if (dimension === undefined) continue;
    const seen = observed(found, dimension, target.provider);
    const known = limits[dimension];
    if (seen !== undefined && (known === undefined || left(seen) < left(known))) limits[dimension] = seen;
  }
  if (Object.keys(limits).length === 0) return undefined;
  return { endpoint: target.endpoint, model: target.model, limits };
}

function dimensionOf(name: string, { unit }: SignalDimension): LimitDimension | undefined {
  const meant = name.startsWith("policy:") ? (unit ?? "") : name;
  return Object.hasOwn(MEANING, meant) ? MEANING[meant] : undefined;
}

function observed(
  dim: SignalDimension,
  dimension: LimitDimension,
  provider: string | undefined,
): ObservedLimit | undefined {
  const { limit, remaining, resetMs } = dim;
  if (limit !== undefined && limit <= 0) return undefined;
  if (limit === undefined && remaining === undefined) return undefined;
  const usual = provider === undefined ? undefined : rulesOf(provider).windowMs;
  const windowMs = dim.windowMs ?? usual?.[dimension === "requests" ? "requests" : "tokens"];
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(remaining === undefined ? {} : { remaining }),
    ...(resetMs === undefined ? {} : { resetMs }),
    ...(windowMs === undefined ? {} : { windowMs }),
  };
}

/** As a part of the limit's window, so that limits over different windows compare. */
function left({ limit, remaining = limit, windowMs = 60_000 }: ObservedLimit): number {
  return (remaining ?? Infinity) / windowMs;
}
