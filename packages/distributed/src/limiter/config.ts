import type { MessageBus } from "@hivepace/bus";
import { type CapacityUpdate, type Clock, InvalidConfigError, type SyncStore, systemClock } from "@hivepace/core";
import { AMOUNT, checkMaxQueue, isAmount } from "@hivepace/core/internal";
import { resolveNamespace } from "@hivepace/namespace";
import { type Isolation, KEPT } from "../engine/silence.ts";
import { LONGEST_ID } from "../wire/subjects.ts";
import { type Aggregation, type AggregationAt, checkAggregation } from "./aggregation.ts";

/** How an agent holds limits together with others. */
export interface SwarmOptions {
  /** What a 429 leaves of the capacity, above 0 and below 1. */
  reduceFactor?: number | undefined;
  /** How often the capacity rises again, in milliseconds, and by which factor. */
  recoveryIntervalMs?: number | undefined;
  recoveryFactor?: number | undefined;
  /** It recovers to what was configured and not beyond; without this to twice that. */
  maxRecovery?: boolean | undefined;
  onCapacityChange?: ((update: CapacityUpdate) => void) | undefined;
  /** How often this agent reports, in milliseconds. The same for all agents. */
  heartbeatIntervalMs?: number | undefined;
  /** Refusals within this time of a cut are the same congestion. Default: the window of the resource. */
  cooldownMs?: number | undefined;
  /** No cut goes below this, in tokens per window. */
  minCapacity?: number | undefined;
  /** What goes on when the bus is away for long: nothing, half of this agent's share, or all of it. */
  isolation?: Isolation | undefined;
  /** How many agents there are: for one that has never heard any, and to warn when there are fewer. */
  expectedAgents?: number | undefined;
  /** Signs all messages and ignores others. A pair is the one that signs and the one that was valid before it. */
  secret?: string | readonly [current: string, previous: string] | undefined;
  /**
   * Who says how much each agent may use, when there is a `sync` store: "bus": the agents agree among themselves; "store":
   * the store hands it out, for thousands of agents; "auto": the one or the other, by how many they are. The same for all.
   */
  aggregation?: Aggregation | undefined;
  /** With "auto": the store from more agents than `above` on, the bus again from fewer than `below` on. */
  aggregationAt?: AggregationAt | undefined;
  /** Its part when there is not enough for all, beside that of others. */
  weight?: number | undefined;
  /**
   * How many may wait for one resource, in a hive for one endpoint; the next is refused with CAPACITY_EXHAUSTED. A request
   * with a route is refused when as many wait for each of its candidates. Default: any number.
   */
  maxQueue?: number | undefined;
  clock?: Clock | undefined;
}

/** How a limiter shares its limits with the other agents on the bus. */
export interface DistributedConfig extends SwarmOptions {
  /** Lent: it stays open when the limiter is closed. */
  bus: MessageBus;
  /** No two agents on the bus have the same. */
  agentId: string;
  /** A store that all agents have, for `aggregation`. Lent: it stays open when the limiter is closed. */
  sync?: SyncStore | undefined;
  /** "fair": the sum over all agents is the limit. "none": each agent has all of it, and only cuts are shared. */
  sharing?: "fair" | "none" | undefined;
  /** Agents of other namespaces on the same bus are not heard. Default: subjects have no prefix. */
  namespace?: string | undefined;
}

/** What holds for everything that is not given. */
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

/** A configuration in which nothing is missing that the limiter needs. */
export interface Settings {
  /** Undefined: it is alone. */
  readonly bus: MessageBus | undefined;
  readonly sync: SyncStore | undefined;
  /** What keys in the store begin with. */
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
  /** The first signs; none when there is no secret. */
  readonly secrets: readonly string[];
  readonly namespace: string | undefined;
  readonly weight: number;
  readonly maxQueue: number;
  readonly clock: Clock;
}

const DAY_MS = 86_400_000;
const SHORTEST_SECRET = 16;

/** Throws INVALID_CONFIG, which names the option, the rule and the value. */
export function validateDistributedConfig(config: DistributedConfig): void {
  settingsOf(config);
}

export function settingsOf(config: DistributedConfig): Settings {
  need(typeof config === "object" && config !== null, "config", "an object", config);
  const { bus } = config;
  need(typeof bus?.publish === "function" && typeof bus.subscribe === "function", "bus", "a MessageBus", bus);
  return swarmSettings(config);
}

/** The same for one that may do without a bus. */
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

/** Without a store nobody has to be told which namespace it is. */
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
  // The value itself must not get into a log.
  need(isRight, "secret", `a string of ${SHORTEST_SECRET} characters or more, or two of these`, "(hidden)");
  return secrets as readonly string[];
}

/** Above the least and below the most, or equal to them where that is said. */
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
