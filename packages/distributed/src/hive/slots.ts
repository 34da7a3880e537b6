import { type EndpointConfig, InvalidConfigError, type KeyLimits } from "@hivepace/core";
import { checkNames, ENDPOINT_OPTIONS, KEY_OPTIONS, type OptionNames } from "@hivepace/core/internal";
import { at, ownUsageOf, type QuotaConfig } from "../engine/index.ts";
import type { Settings } from "../limiter/config.ts";
import { checkSlots, type SlotLimit, slotConfig } from "../limiter/slot-config.ts";
import type { HiveEndpoint, HiveKeyLimits, WindowLimit } from "./hive-types.ts";
import { type SharePlan, targetName } from "./limits.ts";
import type { Share } from "./target.ts";
import { windowLimits } from "./window-limits.ts";

const HIVE_ENDPOINT = {
  ...ENDPOINT_OPTIONS,
  maxInFlight: true,
  burst: true,
  limits: true,
} as const satisfies OptionNames<HiveEndpoint>;
const HIVE_KEY = { ...KEY_OPTIONS, maxInFlight: true } as const satisfies OptionNames<HiveKeyLimits>;

/** Limits of an endpoint that only a hive supports. */
export interface HiveLimits {
  /** The limit on calls under way. */
  readonly slots: SlotLimit | undefined;
  /** Limits over windows of their own. */
  readonly windows: readonly WindowLimit[];
}

/** The endpoints in the form of a single-process manager, and the further limits of each by target name. */
export interface SplitEndpoints {
  readonly endpoints: readonly EndpointConfig[];
  readonly further: ReadonlyMap<string, HiveLimits>;
}

/** Separates the limits that only a hive supports. Throws INVALID_CONFIG. */
export function splitEndpoints(
  endpoints: readonly HiveEndpoint[],
  mockAbove: number | undefined,
  windowMs: number,
  nameOf = (index: number): string => `endpoints[${index}]`,
): SplitEndpoints {
  if (!Array.isArray(endpoints)) return { endpoints, further: new Map() };
  const further = new Map<string, HiveLimits>();
  const plain = endpoints.map((endpoint: HiveEndpoint, i): EndpointConfig => {
    const option = nameOf(i);
    checkNames(endpoint, option, HIVE_ENDPOINT);
    const [{ burst, limits, ...rest }, slots] = split(endpoint, `${option}.maxInFlight`) as [HiveEndpoint, SlotLimit?];
    const windows = windowLimits({ burst, limits }, rest, windowMs, option);
    const isMock = (rest.tpmLimit ?? 0) > (mockAbove ?? Infinity);
    const { id, model, models } = rest;
    const isNamed = typeof id === "string" && (models === undefined || Array.isArray(models));
    if ((slots !== undefined || windows.length > 0) && !isMock && isNamed)
      further.set(targetName({ id, model, models }), { slots, windows });
    return rest;
  });
  return { endpoints: plain, further };
}

/** The limits of tenant keys in the form of a single-process manager. Throws INVALID_CONFIG. */
export function splitKeys(keys: Readonly<Record<string, HiveKeyLimits>>): Readonly<Record<string, KeyLimits>> {
  if (typeof keys !== "object" || keys === null) return keys;
  return Object.fromEntries(
    Object.entries(keys).map(([key, limits]) => {
      checkNames(limits, `keys.${key}`, HIVE_KEY);
      return [key, split(limits, `keys.${key}.maxInFlight`)[0] as KeyLimits];
    }),
  );
}

/** The slots of a tenant key. Throws INVALID_CONFIG. */
export function slotsOfKey(limits: HiveKeyLimits): SlotLimit | undefined {
  return split(limits, "maxInFlight")[1];
}

/** The quota of an endpoint's or key's slots; empty without a limit. */
export function slotPlans(
  base: string,
  slots: SlotLimit | undefined,
  settings: Settings,
  leaseMs: number,
): SharePlan[] {
  if (slots === undefined) return [];
  const config: QuotaConfig = slotConfig(settings, base, slots, leaseMs);
  return [{ dimensions: ["requests"], config }];
}

/** Counts the calls of this process under way that began before their number was limited. */
export function countUnderWay(
  { shares, inFlight }: { readonly shares: readonly Share[]; readonly inFlight: number },
  now: number,
): void {
  const slots = shares.at(-1);
  if (!slots?.isSlots) return;
  const uncounted = inFlight - at(ownUsageOf(slots.quota, now), 0);
  if (uncounted > 0) slots.settle([uncounted], now, now);
}

/** Configuration files may contain `max_in_flight`, and null for an absent limit. */
function split(limits: HiveEndpoint | HiveKeyLimits, option: string): [rest: unknown, slots: SlotLimit | undefined] {
  if (typeof limits !== "object" || limits === null) return [limits, undefined];
  const { maxInFlight, max_in_flight: renamed, ...rest } = limits as HiveEndpoint & { max_in_flight?: SlotLimit };
  const slots = maxInFlight ?? renamed ?? undefined;
  if (slots !== undefined) checkSlots(option, slots);
  if (maxInFlight != null && renamed != null)
    throw new InvalidConfigError(option, "given once, as maxInFlight or as max_in_flight", renamed);
  return [rest, slots === Infinity ? undefined : slots];
}
