import type { LimitDimension, LimitObservation, ObservedLimit } from "@hivepace/core";
import { rulesOf } from "../call/provider-rules.ts";
import type { ProviderSignal, SignalDimension } from "../signal/provider-signal.ts";

/**
 * Maps the dimensions and units of providers to those of the gate. Dimensions that the gate does not count are
 * absent.
 */
const MEANING: Readonly<Record<string, LimitDimension>> = {
  requests: "requests",
  requests_trial: "requests",
  tokens: "tokens",
  project_tokens: "tokens",
  input_tokens: "input_tokens",
  output_tokens: "output_tokens",
};

/**
 * Returns the limits that an answer states, as an observation for the gate; undefined when it states none. Of two
 * limits on one dimension the one with less left counts. Limits of 0 and less mean that the model is not in the plan,
 * and are left out.
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

/** The remaining amount per millisecond of the window, which makes limits over different windows comparable. */
function left({ limit, remaining = limit, windowMs = 60_000 }: ObservedLimit): number {
  return (remaining ?? Infinity) / windowMs;
}
