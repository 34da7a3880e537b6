import { InvalidConfigError } from "@hivepace/core";
import { checkKnown, type OptionNames } from "@hivepace/core/internal";
import { type QuotaConfig, type QuotaReport, SLOT_WINDOW_MS } from "../engine/index.ts";
import { LONGEST_NAME } from "../wire/subjects.ts";
import { storeOf } from "./aggregation.ts";
import type { Settings } from "./config.ts";
import { rulesOf } from "./quota-config.ts";

/** Suffix of the names of slot quotas. No other quota of a hive can have it. */
const SUFFIX = "@in-flight";
/** The dimension of slots on the wire. */
const DIMENSIONS = ["in_flight"] as const;

/** A limit on calls under way that follows the provider. */
export interface AdaptiveSlots {
  readonly adaptive: {
    /** Lower bound of the limit. */
    readonly min: number;
    /** Upper bound of the limit. */
    readonly max: number;
    /** The initial limit. @defaultValue `min` */
    readonly start?: number | undefined;
  };
}

/** A limit on calls under way: a number, or bounds between which it follows the provider. */
export type SlotLimit = number | AdaptiveSlots;

const SLOT_OPTIONS = { adaptive: true } as const satisfies OptionNames<AdaptiveSlots>;
const ADAPTIVE_OPTIONS = { min: true, max: true, start: true } as const satisfies OptionNames<
  AdaptiveSlots["adaptive"]
>;

/** Checks a limit on calls under way; Infinity means no limit. Throws INVALID_CONFIG. */
export function checkSlots(option: string, slots: unknown): void {
  if (typeof slots === "object" && slots !== null) {
    checkKnown(slots, SLOT_OPTIONS, `${option}.`);
    checkAdaptive(option, (slots as Partial<AdaptiveSlots>).adaptive);
    return;
  }
  const isCount = slots === Infinity || (Number.isSafeInteger(slots) && (slots as number) >= 1);
  if (!isCount) throw new InvalidConfigError(option, "a whole number of 1 or more", slots);
}

function checkAdaptive(option: string, adaptive: Partial<AdaptiveSlots["adaptive"]> | undefined): void {
  if (typeof adaptive !== "object" || adaptive === null)
    throw new InvalidConfigError(
      option,
      "a whole number of 1 or more, or { adaptive: { min, max, start? } }",
      adaptive,
    );
  checkKnown(adaptive, ADAPTIVE_OPTIONS, `${option}.adaptive.`);
  const { min = 0, max = 0, start = min } = adaptive;
  const isCount = (value: number) => Number.isSafeInteger(value) && value >= 1;
  if (!isCount(min)) throw new InvalidConfigError(`${option}.adaptive.min`, "a whole number of 1 or more", min);
  if (!isCount(max) || max < min)
    throw new InvalidConfigError(`${option}.adaptive.max`, "a whole number that is not below min", max);
  if (!isCount(start) || start < min || start > max)
    throw new InvalidConfigError(`${option}.adaptive.start`, "a whole number from min to max", start);
}

/** The name of the quota that holds the slots of a resource. Throws INVALID_CONFIG when it is too long. */
function slotsName(resource: string): string {
  const name = resource + SUFFIX;
  if (name.length <= LONGEST_NAME) return name;
  throw new InvalidConfigError(
    "resource",
    `${LONGEST_NAME - SUFFIX.length} characters or less with maxInFlight`,
    resource,
  );
}

/** The resource whose slots are a quota of this name; the name itself for other quotas. */
export function resourceOf(quota: string): string {
  return quota.endsWith(SUFFIX) ? quota.slice(0, -SUFFIX.length) : quota;
}

/** True for a report on calls under way. */
export function isOfSlots({ dimensions }: Pick<QuotaReport, "dimensions">): boolean {
  return dimensions?.length === 1 && dimensions[0] === DIMENSIONS[0];
}

/** The engine's configuration of a limit on calls under way. A lease that is not renewed ends within `leaseMs`. */
export function slotConfig(settings: Settings, resource: string, limit: SlotLimit, leaseMs: number): QuotaConfig {
  const { min = 1, max = 1, start = min } = typeof limit === "object" ? limit.adaptive : {};
  const slots = typeof limit === "object" ? max : limit;
  if (typeof limit === "object" && storeOf(settings))
    throw new InvalidConfigError(
      "maxInFlight",
      'a number where a store may grant the limits; adaptive limits need aggregation "bus"',
      limit,
    );
  return {
    ...(typeof limit === "object" ? { adaptive: { min, start } } : {}),
    name: slotsName(resource),
    limits: [slots],
    dimensions: DIMENSIONS,
    windowMs: SLOT_WINDOW_MS,
    rules: rulesOf(settings, SLOT_WINDOW_MS, 1 / slots),
    leaseMs,
  };
}
