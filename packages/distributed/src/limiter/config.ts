import type { MessageBus } from "@hivepace/bus";
import { type CapacityUpdate, type Clock, InvalidConfigError, type SyncStore, systemClock } from "@hivepace/core";
import { AMOUNT, checkMaxQueue, isAmount } from "@hivepace/core/internal";
import { resolveNamespace } from "@hivepace/namespace";
import { type Isolation, KEPT } from "../engine/silence.ts";
import { LONGEST_ID } from "../wire/subjects.ts";
import { type Aggregation, type AggregationAt, checkAggregation } from "./aggregation.ts";

/** How an agent shares limits with the swarm. */
export interface SwarmOptions {
  /**
   * The part of the capacity that a refusal (429) leaves, above 0 and below 1.
   *
   * @defaultValue 0.5
   */
  reduceFactor?: number | undefined;
  /** Interval of recovery steps in milliseconds, and the factor of each step. */
  recoveryIntervalMs?: number | undefined;
  recoveryFactor?: number | undefined;
  /** Whether recovery ends at the configured capacity. If false, it ends at twice that. */
  maxRecovery?: boolean | undefined;
  onCapacityChange?: ((update: CapacityUpdate) => void) | undefined;
  /** Interval of reports in milliseconds. Must be the same for all agents. */
  heartbeatIntervalMs?: number | undefined;
  /**
   * Refusals within this time after a cut belong to the same congestion and do not cut again.
   *
   * @defaultValue the window of the resource
   */
  cooldownMs?: number | undefined;
  /** The smallest capacity after cuts, in tokens per window. */
  minCapacity?: number | undefined;
  /** The part of its share that an isolated agent keeps using: nothing ("safe"), half ("balanced") or all ("available"). */
  isolation?: Isolation | undefined;
  /** The expected size of the swarm: the divisor for an agent that has never heard a peer, and for a warning if there are fewer. */
  expectedAgents?: number | undefined;
  /** Secret that signs all messages; unsigned ones are ignored. A pair is the present secret and the former one, for rotation. */
  secret?: string | readonly [current: string, previous: string] | undefined;
  /**
   * How agents agree on their shares when there is a `sync` store. "bus": among themselves. "store": the store hands out
   * the limit, for thousands of agents. "auto": by the size of the swarm, and always the store without a bus. Must be the
   * same for all agents.
   *
   * @defaultValue "auto"
   */
  aggregation?: Aggregation | undefined;
  /** With "auto": the store above `above` agents, the bus again below `below`. */
  aggregationAt?: AggregationAt | undefined;
  /**
   * Relative weight under contention.
   *
   * @defaultValue 1
   */
  weight?: number | undefined;
  /**
   * The largest number of waiters for one resource, in a hive for one endpoint. Further requests are rejected with
   * CAPACITY_EXHAUSTED; a request with a route only when all its candidates have that many.
   *
   * @defaultValue Infinity
   */
  maxQueue?: number | undefined;
  clock?: Clock | undefined;
}

/** Options of `createDistributedLimiter`. */
export interface DistributedConfig extends SwarmOptions {
  /** The bus, lent: it stays open when the limiter is closed. */
  bus: MessageBus;
  /** Unique on the bus. */
  agentId: string;
  /** The store of `aggregation`, the same for all agents. Lent: it stays open when the limiter is closed. */
  sync?: SyncStore | undefined;
  /** "fair": all agents together use the limit. "none": each agent uses the whole limit, and only cuts are shared. */
  sharing?: "fair" | "none" | undefined;
  /**
   * Separates swarms on one bus.
   *
   * @defaultValue none: subjects have no prefix
   */
  namespace?: string | undefined;
}

/** Default values of the options. */
export const defaultDistributedConfig = Object.freeze({
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
  /** Undefined for an agent without a bus. */
  readonly bus: MessageBus | undefined;
  readonly sync: SyncStore | undefined;
  /** The prefix of keys in the store. */
  readonly storeNamespace: string;
  readonly aggregation: Aggregation;
  readonly aggregationAt: AggregationAt;
  readonly agentId: string;
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
  /** The first one signs. Empty without a secret. */
  readonly secrets: readonly string[];
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
  const { bus } = config;
  need(typeof bus?.publish === "function" && typeof bus.subscribe === "function", "bus", "a MessageBus", bus);
  return swarmSettings(config);
}

/** The same for options that may have no bus. */
export function swarmSettings(
  config: Omit<DistributedConfig, "bus"> & { bus?: MessageBus | undefined; storeNamespace?: string | undefined },
): Settings {
  const given = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
  const settings = { ...defaultDistributedConfig, clock: systemClock, ...given } as unknown as Settings &
    DistributedConfig;
  const { agentId, expectedAgents, cooldownMs, namespace, onCapacityChange, clock, weight } = settings;
  const isId = typeof agentId === "string" && agentId.length >= 1 && agentId.length <= LONGEST_ID;
  need(isId, "agentId", `a string of 1 to ${LONGEST_ID} characters`, agentId);
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
    cooldownMs,
    expectedAgents,
    namespace,
    secrets: secretsOf(config.secret),
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

/** Checks a number against its bounds, which may be inclusive. */
function between(option: string, value: number, least: number, most: number, toMost = false, fromLeast = false): void {
  const isRight =
    typeof value === "number" &&
    (fromLeast ? value >= least : value > least) &&
    (toMost ? value <= most : value < most);
  const rule = `a number ${fromLeast ? "from" : "above"} ${least} ${toMost ? "to" : "and below"} ${most}`;
  need(isRight, option, rule, value);
}

function need(isRight: boolean, option: string, rule: string, value: unknown): void {
  if (!isRight) throw new InvalidConfigError(option, rule, value);
}
