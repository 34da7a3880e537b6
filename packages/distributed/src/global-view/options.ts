import { type Clock, type RateManager, type SyncStore, systemClock } from "@hivepace/core";
import { AMOUNT, checkKnown, isAmount, need, type OptionNames } from "@hivepace/core/internal";
import { resolveNamespace } from "@hivepace/namespace";
import { hash32 } from "../hash.ts";

/** Options of `startGlobalView`. */
export interface GlobalViewOptions {
  /** The manager whose counts are synced. The view aligns its windows with the store's clock. */
  manager: RateManager;
  /** The store. It stays open when the view is closed. */
  store: SyncStore;
  /** Id of this instance, unique among all that run at the same time. */
  agentId: string;
  /**
   * Prefix of keys in the store.
   *
   * @defaultValue the result of `resolveNamespace()` of `@hivepace/namespace`
   */
  namespace?: string | undefined;
  /**
   * True to sync also the keys that were used in the present window.
   *
   * @defaultValue false
   */
  keys?: boolean | undefined;
  /**
   * Interval of syncs in milliseconds.
   *
   * @defaultValue 1,000
   */
  intervalMs?: number | undefined;
  /**
   * Time without a successful sync after which the view is stale, in milliseconds.
   *
   * @defaultValue five intervals
   */
  staleAfterMs?: number | undefined;
  /**
   * Upper bound of the duration of a store call, in milliseconds. Stores have shorter timeouts of their own.
   *
   * @defaultValue 10,000
   */
  timeoutMs?: number | undefined;
  /**
   * Source of time, for tests.
   *
   * @defaultValue the system clock
   */
  clock?: Clock | undefined;
  /**
   * Returns numbers from 0 (inclusive) to 1 (exclusive), which spread the syncs of instances.
   *
   * @defaultValue a sequence derived from `agentId`
   */
  random?: (() => number) | undefined;
  /**
   * Id of this start of the agent, different for each start.
   *
   * @defaultValue a random id
   */
  incarnation?: string | undefined;
}

export type GlobalViewSettings = { readonly [O in keyof GlobalViewOptions]-?: NonNullable<GlobalViewOptions[O]> };

const DEFAULTS = { intervalMs: 1_000, timeoutMs: 10_000, staleIntervals: 5 };

const OPTIONS = {
  manager: true,
  store: true,
  agentId: true,
  namespace: true,
  keys: true,
  intervalMs: true,
  staleAfterMs: true,
  timeoutMs: true,
  clock: true,
  random: true,
  incarnation: true,
} as const satisfies OptionNames<GlobalViewOptions>;

export function checkOptions(options: GlobalViewOptions): GlobalViewSettings {
  checkKnown(options, OPTIONS);
  const { manager, store, agentId, keys = false, clock = systemClock, incarnation = crypto.randomUUID() } = options;
  const { intervalMs = DEFAULTS.intervalMs, timeoutMs = DEFAULTS.timeoutMs } = options;
  const { staleAfterMs = DEFAULTS.staleIntervals * intervalMs, random = randomOf(String(agentId)) } = options;
  need(typeof manager?.snapshot === "function", "manager", "a RateManager", manager);
  need(typeof store?.sync === "function", "store", "a SyncStore", store);
  need(isText(agentId), "agentId", TEXT, agentId);
  need(isText(incarnation), "incarnation", TEXT, incarnation);
  need(typeof keys === "boolean", "keys", "true or false", keys);
  need(typeof random === "function", "random", "a function", random);
  for (const [option, value] of Object.entries({ intervalMs, staleAfterMs, timeoutMs }))
    need(isAmount(value), option, AMOUNT, value);
  const { namespace } = resolveNamespace({ namespace: options.namespace });
  return { manager, store, agentId, namespace, keys, intervalMs, staleAfterMs, timeoutMs, clock, random, incarnation };
}

const TEXT = "a well-formed string that is not empty";
const isText = (value: unknown): boolean => typeof value === "string" && value !== "" && !/\p{Cs}/u.test(value);

/** A random sequence that differs between agents and is the same for each start of one agent. */
function randomOf(agentId: string): () => number {
  let calls = 0;
  return () => hash32(agentId, calls++) / 2 ** 32;
}
