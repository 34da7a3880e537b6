import { type GateRequest, InvalidConfigError } from "@hivepace/core";
import { type Use, useOf } from "./amounts-of.ts";

/** A validated request. */
export interface Asked {
  /** The endpoints of the route, or the one endpoint. */
  readonly candidates: readonly string[];
  readonly model: string | undefined;
  readonly key: string | undefined;
  readonly session: string | undefined;
  readonly use: Use;
  /** True when the request gives its tokens, in total or in parts. */
  readonly hasTokens: boolean;
}

export function askedOf(request: GateRequest): Asked {
  const { endpoint, route, model, key, session } = request;
  if ((endpoint === undefined) === (route === undefined))
    throw new InvalidConfigError("endpoint", "given, or else route, and not both", endpoint);
  if (route !== undefined && !(Array.isArray(route) && route.length > 0))
    throw new InvalidConfigError("route", "an array of at least one endpoint", route);
  if (key === "") throw new InvalidConfigError("key", "a string that is not empty", key);
  const hasTokens = [request.tokens, request.inputTokens, request.outputTokens].some((part) => part !== undefined);
  return {
    candidates: route ? [...new Set(route)] : [endpoint as string],
    model,
    key,
    session,
    use: useOf(request),
    hasTokens,
  };
}
