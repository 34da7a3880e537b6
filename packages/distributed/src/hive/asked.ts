import { type GateRequest, InvalidConfigError } from "@hivepace/core";
import { checkKnown, type OptionNames } from "@hivepace/core/internal";
import { idsOf, tiersOf } from "../router/tiers.ts";
import { type Use, useOf } from "./amounts-of.ts";

/** A validated request. */
export interface Asked {
  /** The endpoints of the route, or the one endpoint. */
  readonly candidates: readonly string[];
  /**
   * The same endpoints in tiers. A later tier is used when no endpoint of an earlier one is available with capacity.
   */
  readonly tiers: readonly (readonly string[])[];
  readonly model: string | undefined;
  readonly key: string | undefined;
  readonly session: string | undefined;
  readonly use: Use;
  /** True when the request states its tokens, in total or in parts. */
  readonly hasTokens: boolean;
}

const OPTIONS = {
  endpoint: true,
  route: true,
  model: true,
  key: true,
  tokens: true,
  inputTokens: true,
  outputTokens: true,
  session: true,
  signal: true,
  timeoutMs: true,
  priority: true,
  whileWaiting: true,
} as const satisfies OptionNames<GateRequest>;

export function askedOf(request: GateRequest): Asked {
  checkKnown(request, OPTIONS, "", "request");
  const { endpoint, route, model, key, session } = request;
  if ((endpoint === undefined) === (route === undefined))
    throw new InvalidConfigError("endpoint", "given, or `route` instead, and not both", endpoint);
  if (route === undefined && (typeof endpoint !== "string" || endpoint === ""))
    throw new InvalidConfigError("endpoint", "the id of an endpoint; for several use `route`", endpoint);
  checkText("model", model);
  checkText("key", key);
  checkText("session", session);
  const { whileWaiting } = request;
  if (whileWaiting !== undefined && typeof whileWaiting !== "function")
    throw new InvalidConfigError("whileWaiting", "a function, or absent", whileWaiting);
  const { tokens, inputTokens, outputTokens } = request;
  const hasTokens = tokens !== undefined || inputTokens !== undefined || outputTokens !== undefined;
  const tiers = route === undefined ? undefined : tiersOf(route, "route");
  const candidates = tiers ? idsOf(tiers) : [endpoint as string];
  return {
    candidates,
    tiers: tiers ?? [candidates],
    model,
    key,
    session,
    use: useOf(request),
    hasTokens,
  };
}

function checkText(option: string, value: unknown): void {
  if (value !== undefined && (typeof value !== "string" || (value === "" && option !== "session")))
    throw new InvalidConfigError(option, "a string that is not empty", value);
}
