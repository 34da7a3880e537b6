import type { AbortSignalLike } from "@hivepace/core";
import type { CallInfo, PacingSettings } from "../options.ts";
import type { TokenEstimate } from "../usage/token-estimator.ts";
import type { PacedCall } from "./pacer.ts";

/** Returns the paced call for a request; undefined when the request passes without a limit. */
export function planCall(
  info: CallInfo,
  settings: PacingSettings,
  given: {
    readonly defaultEndpoint: string;
    readonly signal?: AbortSignalLike | undefined;
    readonly isReplayable: boolean;
    readonly patienceMs?: number;
  },
): PacedCall | undefined {
  const { endpoint, key, session, priority, model } = settings.options;
  const chosen = typeof endpoint === "function" ? endpoint(info) : (endpoint ?? given.defaultEndpoint);
  if (chosen === undefined) return undefined;
  const route = typeof chosen === "string" ? [chosen] : chosen;
  if (route.length === 0) return undefined;
  const ofSession = typeof session === "function" ? session(info) : session;
  const facts = model === undefined ? info : { ...info, model: model(info) };
  const said = settings.options.estimate?.(info);
  return {
    provider: info.provider,
    facts,
    estimate: () => estimateOf(said, settings.estimator.estimate(info.provider, facts, ofSession)),
    route,
    key: typeof key === "function" ? key(info) : key,
    session: ofSession,
    priority: typeof priority === "function" ? priority(info) : priority,
    signal: given.signal,
    timeoutMs: Math.min(settings.timeoutMs, given.patienceMs ?? Infinity),
    isReplayable: given.isReplayable,
  };
}

/** Combines the caller's estimate with the learned one, which fills the parts that the caller leaves open. */
function estimateOf(said: number | Partial<TokenEstimate> | undefined, learned: TokenEstimate): TokenEstimate {
  if (typeof said === "number")
    return {
      tokens: said,
      inputTokens: Math.min(said, learned.inputTokens),
      outputTokens: Math.max(0, said - learned.inputTokens),
    };
  if (said === undefined) return learned;
  const { inputTokens = learned.inputTokens, outputTokens = learned.outputTokens } = said;
  return { tokens: said.tokens ?? inputTokens + outputTokens, inputTokens, outputTokens };
}
