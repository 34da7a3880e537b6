import { InvalidConfigError, InvalidWindowError, type SyncStore } from "@hivepace/core";
import { AMOUNT, checkKnown, checkObject, isAmount, type OptionNames, warn } from "@hivepace/core/internal";
import { resolveNamespace } from "@hivepace/namespace";
import { type Settings, SWARM_OPTIONS, swarmSettings } from "../limiter/config.ts";
import type { HiveOptions } from "./hive-types.ts";

const OPTIONS = {
  endpoints: true,
  keys: true,
  limitsForKey: true,
  bus: true,
  sync: true,
  namespace: true,
  agentId: true,
  mode: true,
  windowMs: true,
  leaseMs: true,
  strategy: true,
  weights: true,
  refusalOf: true,
  mockEndpointTpmThreshold: true,
  // Last, because an error lists the first names.
  ...SWARM_OPTIONS,
} as const satisfies OptionNames<HiveOptions>;

/** Options of the stepped recovery. */
const STEPS = ["reduceFactor", "recoveryFactor", "recoveryIntervalMs", "maxRecovery", "cooldownMs"] as const;

const BY_ADDRESS = ", or, with createHive of the package hivepace, an address such as redis://localhost:6379";

const DEFAULTS = { mode: "enforce", windowMs: 60_000, leaseMs: 900_000 } as const;

/** Options with all defaults applied. The bus and the store are open. */
export interface HiveSettings {
  readonly swarm: Settings;
  /** Prefix of keys in the store, and of subjects on the bus if a namespace was configured. */
  readonly namespace: string;
  readonly mode: "enforce" | "observe";
  readonly windowMs: number;
  readonly leaseMs: number;
}

export function hiveSettings(
  options: HiveOptions,
  agentId: string,
  bus: Settings["bus"],
  store: SyncStore | undefined,
): HiveSettings {
  checkKnown(options, OPTIONS);
  const { mode = DEFAULTS.mode, windowMs = DEFAULTS.windowMs, leaseMs = DEFAULTS.leaseMs } = options;
  if (mode !== "enforce" && mode !== "observe") throw new InvalidConfigError("mode", '"enforce" or "observe"', mode);
  if (!isAmount(windowMs)) throw new InvalidWindowError("windowMs", AMOUNT, windowMs);
  if (!isAmount(leaseMs)) throw new InvalidConfigError("leaseMs", AMOUNT, leaseMs);
  if (!Array.isArray(options.endpoints)) throw new InvalidConfigError("endpoints", "an array", options.endpoints);
  const { refusalOf, limitsForKey, weights } = options;
  for (const [option, value] of Object.entries({ refusalOf, limitsForKey }))
    if (value !== undefined && typeof value !== "function") throw new InvalidConfigError(option, "a function", value);
  if (weights !== undefined) checkObject("weights", weights);
  if (bus !== undefined && !(typeof bus?.publish === "function" && typeof bus.subscribe === "function"))
    throw new InvalidConfigError("bus", `a MessageBus${BY_ADDRESS}`, bus);
  if (store !== undefined && typeof store?.sync !== "function")
    throw new InvalidConfigError("sync", `a SyncStore${BY_ADDRESS}`, store);
  const { namespace, source } = resolveNamespace({ namespace: options.namespace });
  const isGuessed = source === "default";
  if (isGuessed && (bus || store))
    warn("HIVEPACE_NAMESPACE_GUESSED", 'no namespace was given: all agents without one share the namespace "default"');
  const { endpoints: _, keys: _keys, sync: _sync, mode: _mode, ...rest } = options;
  // Without a configured namespace, subjects are those that all implementations share.
  const swarm = swarmSettings({
    ...rest,
    recovery: options.recovery ?? (STEPS.some((option) => options[option] !== undefined) ? "stepped" : "measured"),
    sharing: "fair",
    bus,
    sync: store,
    agentId,
    namespace: isGuessed ? undefined : namespace,
    storeNamespace: namespace,
    observes: mode === "observe",
  });
  return { swarm, namespace, mode, windowMs, leaseMs };
}
