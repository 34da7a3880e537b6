import { type EndpointConfig, InvalidConfigError, type KeyLimits } from "@hivepace/core";
import { checkNames, ENDPOINT_OPTIONS, KEY_OPTIONS, type OptionNames } from "@hivepace/core/internal";
import { at, ownUsageOf, type QuotaConfig } from "../engine/index.ts";
import type { Settings } from "../limiter/config.ts";
import { checkSlots, type SlotLimit, slotConfig } from "../limiter/slot-config.ts";
import type { HiveEndpoint, HiveKeyLimits } from "./hive-types.ts";
import { type SharePlan, targetName } from "./limits.ts";
import type { Share } from "./target.ts";

const HIVE_ENDPOINT = { ...ENDPOINT_OPTIONS, maxInFlight: true } as const satisfies OptionNames<HiveEndpoint>;
const HIVE_KEY = { ...KEY_OPTIONS, maxInFlight: true } as const satisfies OptionNames<HiveKeyLimits>;

/** The endpoints in the form of a single-process manager, and the slots of each by target name. */
export interface SplitEndpoints {
  readonly endpoints: readonly EndpointConfig[];
  readonly slots: ReadonlyMap<string, SlotLimit>;
}

/** Separates the limits on calls under way, which only a hive supports. Throws INVALID_CONFIG. */
export function splitEndpoints(endpoints: readonly HiveEndpoint[], mockAbove: number | undefined): SplitEndpoints {
  if (!Array.isArray(endpoints)) return { endpoints, slots: new Map() };
  const slots = new Map<string, SlotLimit>();
  const plain = endpoints.map((endpoint: HiveEndpoint, i): EndpointConfig => {
    checkNames(endpoint, `endpoints[${i}]`, HIVE_ENDPOINT);
    const [rest, count] = split(endpoint, `endpoints[${i}].maxInFlight`);
    const isMock = ((rest as EndpointConfig).tpmLimit ?? 0) > (mockAbove ?? Infinity);
    const { id, model, models } = rest as EndpointConfig;
    if (count !== undefined && !isMock && typeof id === "string" && (models === undefined || Array.isArray(models)))
      slots.set(targetName({ id, model, models }), count);
    return rest as EndpointConfig;
  });
  return { endpoints: plain, slots };
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
