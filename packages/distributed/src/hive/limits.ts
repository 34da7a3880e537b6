import { createHash } from "node:crypto";
import { type EndpointCount, InvalidConfigError, type KeyLimits, type LimitDimension } from "@hivepace/core";
import { escapePart, isAmount } from "@hivepace/core/internal";
import type { QuotaConfig, SubWindowConfig } from "../engine/index.ts";
import type { Settings } from "../limiter/config.ts";
import { rulesOf, wholeLimit } from "../limiter/quota-config.ts";
import { KEY_PREFIX, LONGEST_NAME, UNLIMITED } from "../wire/subjects.ts";
import { DIMENSIONS } from "./amounts-of.ts";
import type { HiveDimension, WindowLimit } from "./hive-types.ts";

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

/** One quota of the engine: the limits of an endpoint with the same window, and with shorter ones. */
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
export function sharePlans(
  count: EndpointCount,
  learned: Learned,
  settings: Settings,
  windowMs: number,
  further: readonly WindowLimit[] = [],
  option = "endpoints",
): SharePlan[] {
  const base = targetName(count);
  if (base.length > LONGEST_BASE)
    throw new InvalidConfigError(option, `such that id and models have at most ${LONGEST_BASE} characters`, base);
  return plansOf(base, [...limitsOf(count, learned, windowMs), ...further], settings, windowMs);
}

/** The quotas of a tenant key's limits. A limit of 0 denies every request and is not shared. */
export function keyPlans(key: string, limits: KeyLimits, settings: Settings, windowMs: number): SharePlan[] {
  const { rpmLimit = 0, tpmLimit = 0 } = limits;
  const own: WindowLimit[] = [];
  if (rpmLimit > 0) own.push({ dimension: "requests", ...wholeLimit(rpmLimit, windowMs) });
  if (tpmLimit > 0) own.push({ dimension: "tokens", ...wholeLimit(tpmLimit, windowMs) });
  return plansOf(keyName(key), own, settings, windowMs);
}

/**
 * Limits with the same window form one quota, so that one claim covers all of them. Limits with windows up to the default one
 * are the quota of the longest of them, with sub-windows. Each longer window has a quota of its own.
 */
function plansOf(base: string, limits: readonly WindowLimit[], settings: Settings, windowMs: number): SharePlan[] {
  const plans: SharePlan[] = [];
  const usual = limits.filter((limit) => limit.windowMs <= windowMs).map((limit) => limit.windowMs);
  const longest = usual.length === 0 ? [] : [Math.max(...usual)];
  // The default window comes first, because refusals cut its level.
  const others = limits.map((limit) => limit.windowMs).filter((window) => window > windowMs);
  const windows = [...longest, ...[...new Set(others)].sort((a, b) => a - b)];
  for (const window of windows) {
    const own = limits.filter((limit) => limit.windowMs === window);
    const shorter = limits.filter((limit) => limit.windowMs < window && window <= windowMs);
    const isMain = window === windowMs;
    // The default window always has requests and tokens, so that agents with and without a limit share one quota.
    const dimensions = DIMENSIONS.filter(
      (name, i) => [...own, ...shorter].some(({ dimension }) => dimension === name) || (isMain && i < 2),
    );
    const amounts = dimensions.map((name) => smallest(own, name, UNLIMITED));
    const name = `${base}${isMain ? "" : `@${window}`}`;
    // The main limit is chosen by dimension, because a learned limit may be as large as the number for "unlimited".
    const main = dimensions.indexOf((own[0] as WindowLimit).dimension);
    const requests = smallest(own, "requests", Infinity);
    const least = requests === Infinity ? LEAST_OF_TOKENS : settings.minCapacity / requests;
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
        subWindows: subWindowsOf(shorter, dimensions),
      },
    });
  }
  return plans;
}

/** The smallest limit of a dimension. */
function smallest(limits: readonly WindowLimit[], name: HiveDimension, none: number): number {
  return Math.min(none, ...limits.filter(({ dimension }) => dimension === name).map(({ limit }) => limit));
}

function subWindowsOf(
  shorter: readonly WindowLimit[],
  dimensions: readonly HiveDimension[],
): readonly SubWindowConfig[] | undefined {
  if (shorter.length === 0) return undefined;
  return [...new Set(shorter.map(({ windowMs }) => windowMs))].map((windowMs) => {
    const own = shorter.filter((limit) => limit.windowMs === windowMs);
    return { windowMs, limits: dimensions.map((name) => smallest(own, name, Infinity)) };
  });
}

/**
 * Configured limits, and learned ones where nothing is configured or the learned one is lower. A limit of 0 denies every
 * request and is not shared.
 */
function limitsOf(count: EndpointCount, learned: Learned, windowMs: number): WindowLimit[] {
  const limits: WindowLimit[] = [];
  for (const dimension of DIMENSIONS) {
    const configured = count[CONFIGURED[dimension]];
    if (configured < Infinity) {
      if (configured === 0) continue;
      limits.push({ dimension, ...wholeLimit(configured, windowMs) });
      const lower = learned[dimension];
      // The smaller of both counts.
      if (lower && lower.windowMs <= windowMs) limits.push({ dimension, ...wholeLimit(lower.limit, lower.windowMs) });
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
