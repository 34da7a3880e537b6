import { createHash } from "node:crypto";
import { type EndpointCount, InvalidConfigError, type KeyLimits, type LimitDimension } from "@hivepace/core";
import { escapePart, isAmount } from "@hivepace/core/internal";
import type { QuotaConfig } from "../engine/index.ts";
import type { Settings } from "../limiter/config.ts";
import { rulesOf, wholeLimit } from "../limiter/quota-config.ts";
import { KEY_PREFIX, LONGEST_NAME, UNLIMITED } from "../wire/subjects.ts";
import { DIMENSIONS } from "./amounts-of.ts";
import type { HiveDimension } from "./hive-types.ts";

/** Smallest fraction of a token limit after cuts. A minimum of one token would be useless. */
const LEAST_OF_TOKENS = 0.01;

/** The largest number of digits of a window in the name of a quota. */
const LONGEST_WINDOW = 16;

/** True when limits over this window can be shared. A provider's answer may contain any number. */
export function isWindow(windowMs: number): boolean {
  return isAmount(windowMs) && String(windowMs).length <= LONGEST_WINDOW;
}

/** Limits learned from answers, by dimension. */
export type Learned = Partial<Record<HiveDimension, { readonly limit: number; readonly windowMs: number }>>;

/** One quota of the engine: the limits of an endpoint with the same window. */
export interface SharePlan {
  readonly config: QuotaConfig;
  readonly dimensions: readonly HiveDimension[];
}

/** The name of an endpoint, a model or a pool of models among agents: the same in every process. */
export function targetName({ id, model, models }: Pick<EndpointCount, "id" | "model" | "models">): string {
  const of = models ? [...models].sort() : model === undefined ? [] : [model];
  return [id, ...of].map((part) => escapePart(part, /[/@]/)).join("/");
}

/** The longest name to which the length of a window can still be added. */
const LONGEST_BASE = LONGEST_NAME - 1 - LONGEST_WINDOW;

/** The name of a tenant key's quota, which no endpoint can have. A long key is named by its hash. */
export function keyName(key: string): string {
  const name = `${KEY_PREFIX}/${escapePart(key, /[/@]/)}`;
  return name.length <= LONGEST_BASE ? name : `${KEY_PREFIX}#${createHash("sha256").update(key).digest("hex")}`;
}

/** The quotas of an endpoint's limits, configured and learned. Throws INVALID_CONFIG when its name is too long. */
export function sharePlans(count: EndpointCount, learned: Learned, settings: Settings, windowMs: number): SharePlan[] {
  const base = targetName(count);
  if (base.length > LONGEST_BASE)
    throw new InvalidConfigError("endpoints", `such that id and models have at most ${LONGEST_BASE} characters`, base);
  return plansOf(base, limitsOf(count, learned, windowMs), settings, windowMs);
}

/** The quotas of a tenant key's limits. A limit of 0 denies every request and is not shared. */
export function keyPlans(key: string, limits: KeyLimits, settings: Settings, windowMs: number): SharePlan[] {
  const { rpmLimit = 0, tpmLimit = 0 } = limits;
  const own: Limit[] = [];
  if (rpmLimit > 0) own.push({ dimension: "requests", ...wholeLimit(rpmLimit, windowMs) });
  if (tpmLimit > 0) own.push({ dimension: "tokens", ...wholeLimit(tpmLimit, windowMs) });
  return plansOf(keyName(key), own, settings, windowMs);
}

/** Limits with the same window form one quota, so that one claim covers all of them. */
function plansOf(base: string, limits: readonly Limit[], settings: Settings, windowMs: number): SharePlan[] {
  const plans: SharePlan[] = [];
  // The default window comes first, because refusals cut its level.
  const windows = [...new Set(limits.map((limit) => limit.windowMs))].sort((a, b) => a - b);
  windows.sort((a, b) => Number(b === windowMs) - Number(a === windowMs));
  for (const window of windows) {
    const own = limits.filter((limit) => limit.windowMs === window);
    const isMain = window === windowMs;
    // The default window always has requests and tokens, so that agents with and without a limit share one quota.
    const dimensions = DIMENSIONS.filter(
      (name, i) => own.some(({ dimension }) => dimension === name) || (isMain && i < 2),
    );
    const amounts = dimensions.map((name) => own.find(({ dimension }) => dimension === name)?.limit ?? UNLIMITED);
    const name = `${base}${isMain ? "" : `@${window}`}`;
    // The main limit is chosen by dimension, because a learned limit may be as large as the number for "unlimited".
    const main = dimensions.indexOf((own[0] as Limit).dimension);
    const requests = own.find(({ dimension }) => dimension === "requests")?.limit;
    const least = requests === undefined ? LEAST_OF_TOKENS : settings.minCapacity / requests;
    const rules = rulesOf(settings, window, Math.min(1, least));
    plans.push({
      dimensions,
      config: {
        name,
        limits: amounts,
        dimensions: dimensions.map((each) => NAMES[each]),
        windowMs: window,
        main,
        rules,
      },
    });
  }
  return plans;
}

interface Limit {
  readonly dimension: HiveDimension;
  readonly limit: number;
  readonly windowMs: number;
}

/**
 * Configured limits, and learned ones where nothing is configured. A limit of 0 denies every request and is not shared.
 */
function limitsOf(count: EndpointCount, learned: Learned, windowMs: number): Limit[] {
  const limits: Limit[] = [];
  for (const dimension of DIMENSIONS) {
    const configured = count[CONFIGURED[dimension]];
    if (configured < Infinity) {
      if (configured > 0) limits.push({ dimension, ...wholeLimit(configured, windowMs) });
    } else if (learned[dimension])
      limits.push({ dimension, ...wholeLimit(learned[dimension].limit, learned[dimension].windowMs) });
  }
  return limits;
}

/** Names of dimensions on the wire, the same as in `LimitObservation`. */
export const NAMES: Readonly<Record<HiveDimension, LimitDimension>> = {
  requests: "requests",
  tokens: "tokens",
  inputTokens: "input_tokens",
  outputTokens: "output_tokens",
};

/** Option names of the limits. */
export const CONFIGURED = {
  requests: "rpmLimit",
  tokens: "tpmLimit",
  inputTokens: "inputTpmLimit",
  outputTokens: "outputTpmLimit",
} as const;
