import type { MessageBus } from "@hivepace/bus";
import { type CapacityUpdate, type Clock, type SyncStore, systemClock } from "@hivepace/core";
import { AMOUNT, checkKnown, checkMaxQueue, isAmount, need, type OptionNames } from "@hivepace/core/internal";
import { resolveNamespace } from "@hivepace/namespace";
import { type Isolation, KEPT } from "../engine/index.ts";
import { LONGEST_ID } from "../wire/subjects.ts";
import { type Aggregation, type AggregationAt, checkAggregation } from "./aggregation.ts";

/** The effect of a refusal on the capacity of all agents, and the recovery from it. */
export type Recovery = "measured" | "stepped";

/** Options for sharing limits with the swarm. */
export interface SwarmOptions {
  /**
   * Effect of a refusal (429) and recovery from it. "measured": a refusal cuts to slightly below the usage accepted in
   * the window before; the swarm climbs back to that within seconds and probes beyond it slowly. "stepped": a refusal
   * leaves `reduceFactor` of the capacity, which rises by `recoveryFactor` every `recoveryIntervalMs`.
   *
   * @defaultValue in a hive "measured", unless one of `reduceFactor`, `recoveryFactor`, `recoveryIntervalMs`,
   * `maxRecovery` and `cooldownMs` is set; in a distributed limiter "stepped"
   */
  recovery?: Recovery | undefined;
  /**
   * Whether refusals teach shorter windows, with `recovery: "measured"`. Some providers enforce a minute's limit over
   * seconds, so that bursts are refused while the minute has room. If true, a refusal of a burst spreads the calls of all
   * agents over such a window for ten windows, and the capacity is full again within seconds. Where the limit really is lower,
   * this costs one more refusal of each agent. Prefer `limits` and `burst` where the provider documents its windows.
   *
   * @defaultValue false
   */
  learnWindows?: boolean | undefined;
  /**
   * Fraction of the capacity that a refusal (429) leaves, above 0 and below 1.
   *
   * @defaultValue 0.5
   */
  reduceFactor?: number | undefined;
  /**
   * Interval of recovery steps in milliseconds, above 0 and at most one day.
   *
   * @defaultValue 30,000
   */
  recoveryIntervalMs?: number | undefined;
  /**
   * Factor of each recovery step, above 1 and at most 10.
   *
   * @defaultValue 1.1
   */
  recoveryFactor?: number | undefined;
  /**
   * True if recovery ends at the configured capacity. If false, recovery ends at twice the configured capacity.
   *
   * @defaultValue true
   */
  maxRecovery?: boolean | undefined;
  /** Listener for changes of capacity. */
  onCapacityChange?: ((update: CapacityUpdate) => void) | undefined;
  /**
   * Interval of reports in milliseconds, from 100 to 60,000. Must be the same for all agents.
   *
   * @defaultValue 1,000
   */
  heartbeatIntervalMs?: number | undefined;
  /**
   * Time after a cut within which refusals belong to the same congestion and do not cut again, in milliseconds.
   *
   * @defaultValue the window of the resource
   */
  cooldownMs?: number | undefined;
  /**
   * Smallest capacity after cuts, in tokens per window.
   *
   * @defaultValue 1
   */
  minCapacity?: number | undefined;
  /**
   * Fraction of its share that an isolated agent keeps using: nothing ("safe"), half ("balanced") or all ("available").
   *
   * @defaultValue "balanced"
   */
  isolation?: Isolation | undefined;
  /**
   * Expected size of the swarm. An agent that has never received a message of a peer keeps to its part of the limit for
   * that size. A smaller swarm causes a warning.
   *
   * @defaultValue none
   */
  expectedAgents?: number | undefined;
  /**
   * Secret that signs all messages; unsigned ones are ignored. A pair contains the present and the previous secret, for
   * rotation.
   *
   * @defaultValue none: messages are not signed
   */
  secret?: string | readonly [current: string, previous: string] | undefined;
  /**
   * Name of the swarm, the same for all agents. Signatures are bound to it: messages that are relayed from another region
   * with the same secret and namespace are ignored.
   *
   * @defaultValue the kind of the bus, such as "nats"
   */
  swarmId?: string | undefined;
  /**
   * How agents agree on their shares when there is a `sync` store. "bus": among themselves. "store": the store hands out
   * the limit, for thousands of agents. "auto": by the size of the swarm, and always the store without a bus. Must be the
   * same for all agents.
   *
   * @defaultValue "auto"
   */
  aggregation?: Aggregation | undefined;
  /**
   * Swarm sizes for "auto": the store is used above `above` agents, and the bus again below `below`.
   *
   * @defaultValue 300 and 200
   */
  aggregationAt?: AggregationAt | undefined;
  /**
   * Relative weight under contention.
   *
   * @defaultValue 1
   */
  weight?: number | undefined;
  /**
   * Maximum number of waiters for one resource, in a hive for one endpoint. Further requests are rejected with
   * CAPACITY_EXHAUSTED; a request with a route only when all its candidates have that many.
   *
   * @defaultValue Infinity
   */
  maxQueue?: number | undefined;
  /**
   * Source of time, for tests.
   *
   * @defaultValue the system clock
   */
  clock?: Clock | undefined;
}

/** Options of `createDistributedLimiter`. */
export interface DistributedConfig extends SwarmOptions {
  /** The bus. It stays open when the limiter is closed. */
  bus: MessageBus;
  /** Id of this agent, unique on the bus. */
  agentId: string;
  /**
   * The store for `aggregation`, the same for all agents. It stays open when the limiter is closed.
   *
   * @defaultValue none: agents agree over the bus
   */
  sync?: SyncStore | undefined;
  /**
   * "fair": all agents together use the limit. "none": each agent uses the whole limit, and only cuts are shared.
   *
   * @defaultValue "fair"
   */
  sharing?: "fair" | "none" | undefined;
  /**
   * Namespace that separates swarms on one bus.
   *
   * @defaultValue none: subjects have no prefix
   */
  namespace?: string | undefined;
}

/** Names of the options that a hive and a distributed limiter share. The compiler checks that the list is complete. */
export const SWARM_OPTIONS = {
  reduceFactor: true,
  recoveryIntervalMs: true,
  recoveryFactor: true,
  maxRecovery: true,
  recovery: true,
  learnWindows: true,
  onCapacityChange: true,
  heartbeatIntervalMs: true,
  cooldownMs: true,
  minCapacity: true,
  isolation: true,
  expectedAgents: true,
  secret: true,
  swarmId: true,
  aggregation: true,
  aggregationAt: true,
  weight: true,
  maxQueue: true,
  clock: true,
} as const satisfies OptionNames<SwarmOptions>;

const OPTIONS = {
  ...SWARM_OPTIONS,
  bus: true,
  agentId: true,
  sync: true,
  sharing: true,
  namespace: true,
} as const satisfies OptionNames<DistributedConfig>;

/** Default values of the options. */
export const defaultDistributedConfig = Object.freeze({
  recovery: "stepped",
  learnWindows: false,
  reduceFactor: 0.5,
  recoveryIntervalMs: 30_000,
  recoveryFactor: 1.1,
  maxRecovery: true,
  heartbeatIntervalMs: 1_000,
  sharing: "fair",
  minCapacity: 1,
  isolation: "balanced",
  aggregation: "auto",
  aggregationAt: Object.freeze({ above: 300, below: 200 }),
  weight: 1,
  maxQueue: Infinity,
} as const);

/** Options with all defaults applied. */
export interface Settings {
  /** The bus; undefined for an agent without one. */
  readonly bus: MessageBus | undefined;
  readonly sync: SyncStore | undefined;
  /** The prefix of keys in the store. */
  readonly storeNamespace: string;
  /** The agent delays no call. */
  readonly observes: boolean;
  readonly aggregation: Aggregation;
  readonly aggregationAt: AggregationAt;
  readonly agentId: string;
  readonly recovery: Recovery;
  readonly learnWindows: boolean;
  readonly reduceFactor: number;
  readonly recoveryIntervalMs: number;
  readonly recoveryFactor: number;
  readonly maxRecovery: boolean;
  readonly heartbeatIntervalMs: number;
  readonly sharing: "fair" | "none";
  readonly cooldownMs: number | undefined;
  readonly minCapacity: number;
  readonly isolation: Isolation;
  readonly expectedAgents: number | undefined;
  /** Secrets of the swarm. The first one signs. Empty without a secret. */
  readonly secrets: readonly string[];
  readonly swarmId: string | undefined;
  readonly namespace: string | undefined;
  readonly weight: number;
  readonly maxQueue: number;
  readonly clock: Clock;
}

const DAY_MS = 86_400_000;
const SHORTEST_SECRET = 16;

/** Checks the options. Throws INVALID_CONFIG with the option, the rule and the value. */
export function validateDistributedConfig(config: DistributedConfig): void {
  settingsOf(config);
}

export function settingsOf(config: DistributedConfig): Settings {
  need(typeof config === "object" && config !== null, "config", "an object", config);
  checkKnown(config, OPTIONS);
  const { bus } = config;
  need(typeof bus?.publish === "function" && typeof bus.subscribe === "function", "bus", "a MessageBus", bus);
  return swarmSettings(config);
}

/** Checks and completes options that may lack a bus. Throws INVALID_CONFIG. */
export function swarmSettings(
  config: Omit<DistributedConfig, "bus"> & {
    bus?: MessageBus | undefined;
    storeNamespace?: string | undefined;
    observes?: boolean;
  },
): Settings {
  const given = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
  const settings = { ...defaultDistributedConfig, clock: systemClock, ...given } as unknown as Settings &
    DistributedConfig;
  const { agentId, expectedAgents, cooldownMs, namespace, onCapacityChange, clock, weight } = settings;
  const isId = typeof agentId === "string" && agentId.length >= 1 && agentId.length <= LONGEST_ID;
  need(isId, "agentId", `a string of 1 to ${LONGEST_ID} characters`, agentId);
  const isRecovery = settings.recovery === "measured" || settings.recovery === "stepped";
  need(isRecovery, "recovery", '"measured" or "stepped"', settings.recovery);
  need(typeof settings.learnWindows === "boolean", "learnWindows", "true or false", settings.learnWindows);
  between("reduceFactor", settings.reduceFactor, 0, 1);
  between("recoveryFactor", settings.recoveryFactor, 1, 10, true);
  between("recoveryIntervalMs", settings.recoveryIntervalMs, 0, DAY_MS, true);
  between("heartbeatIntervalMs", settings.heartbeatIntervalMs, 100, 60_000, true, true);
  need(typeof settings.maxRecovery === "boolean", "maxRecovery", "true or false", settings.maxRecovery);
  need(settings.sharing === "fair" || settings.sharing === "none", "sharing", '"fair" or "none"', settings.sharing);
  if (cooldownMs !== undefined) between("cooldownMs", cooldownMs, 0, DAY_MS, true, true);
  need(isAmount(settings.minCapacity), "minCapacity", AMOUNT, settings.minCapacity);
  const isPolicy = Object.hasOwn(KEPT, settings.isolation);
  need(isPolicy, "isolation", '"safe", "balanced" or "available"', settings.isolation);
  const isCount = expectedAgents === undefined || (Number.isSafeInteger(expectedAgents) && expectedAgents >= 1);
  need(isCount, "expectedAgents", "a whole number from 1 on", expectedAgents);
  need(
    namespace === undefined || (typeof namespace === "string" && namespace !== ""),
    "namespace",
    "a string that is not empty",
    namespace,
  );
  checkAggregation(settings.aggregation, settings.aggregationAt, config.sync, settings.sharing);
  between("weight", weight, 1e-3, 1e3, true, true);
  checkMaxQueue(settings.maxQueue);
  const isListener = onCapacityChange === undefined || typeof onCapacityChange === "function";
  need(isListener, "onCapacityChange", "a function", onCapacityChange);
  need(typeof clock?.now === "function" && typeof clock.after === "function", "clock", "a Clock", clock);
  return Object.freeze({
    ...settings,
    bus: config.bus,
    sync: config.sync,
    storeNamespace: config.storeNamespace ?? storeNamespaceOf(config),
    observes: config.observes ?? false,
    cooldownMs,
    expectedAgents,
    namespace,
    secrets: secretsOf(config.secret),
    swarmId: checkedSwarmId(config.swarmId),
  });
}

/** The namespace of the store, which only matters with a store. */
function storeNamespaceOf({ sync, namespace }: Pick<DistributedConfig, "sync" | "namespace">): string {
  return sync ? resolveNamespace({ namespace }).namespace : (namespace ?? "");
}

export function secretsOf(secret: DistributedConfig["secret"]): readonly string[] {
  if (secret === undefined) return [];
  const secrets: readonly unknown[] = typeof secret === "string" ? [secret] : secret;
  const isRight =
    Array.isArray(secrets) &&
    secrets.length >= 1 &&
    secrets.length <= 2 &&
    secrets.every((one) => typeof one === "string" && one.length >= SHORTEST_SECRET);
  // The error must not contain the secret.
  need(isRight, "secret", `a string of ${SHORTEST_SECRET} characters or more, or two of these`, "(hidden)");
  return secrets as readonly string[];
}

export function checkedSwarmId(swarmId: string | undefined): string | undefined {
  const isRight = typeof swarmId === "string" && swarmId.length >= 1 && swarmId.length <= LONGEST_ID;
  need(swarmId === undefined || isRight, "swarmId", `a string of 1 to ${LONGEST_ID} characters`, swarmId);
  return swarmId;
}

/** Checks a number against its bounds, which may be inclusive. */
function between(option: string, value: number, least: number, most: number, toMost = false, fromLeast = false): void {
  const isRight =
    typeof value === "number" &&
    (fromLeast ? value >= least : value > least) &&
    (toMost ? value <= most : value < most);
  const rule = `a number ${fromLeast ? "from" : "above"} ${least} ${toMost ? "to" : "and below"} ${most}`;
  need(isRight, option, rule, value);
}
