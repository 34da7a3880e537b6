import { type Clock, InvalidConfigError, type RateManager, type SyncStore, systemClock } from "@hivepace/core";
import { AMOUNT, isAmount } from "@hivepace/core/internal";
import { resolveNamespace } from "@hivepace/namespace";
import { hash32 } from "../hash.ts";

/** Options of `startGlobalView`. */
export interface GlobalViewOptions {
  /** Whose counts are synced; its windows are moved to those of the store's clock. */
  manager: RateManager;
  /** Is not closed with the view. */
  store: SyncStore;
  /** Different for every instance that runs at the same time. */
  agentId: string;
  /** Default: what `resolveNamespace()` of `@hivepace/namespace` says. */
  namespace?: string | undefined;
  /** Whether keys are synced, too: those that were used in the present window. Default: false. */
  keys?: boolean | undefined;
  /** How often to sync. Default: 1 second. */
  intervalMs?: number | undefined;
  /** When a view without a sync that worked is stale. Default: five intervals. */
  staleAfterMs?: number | undefined;
  /** How long a store may take, at the very most; stores have shorter times of their own. Default: 10 seconds. */
  timeoutMs?: number | undefined;
  clock?: Clock | undefined;
  /** From 0 up to 1, for the spread of the syncs. Default: numbers that follow from the agent's id. */
  random?: (() => number) | undefined;
  /** Different each time the agent starts. Default: a random one. */
  incarnation?: string | undefined;
}

export type GlobalViewSettings = { readonly [O in keyof GlobalViewOptions]-?: NonNullable<GlobalViewOptions[O]> };

const DEFAULTS = { intervalMs: 1_000, timeoutMs: 10_000, staleIntervals: 5 };

export function checkOptions(options: GlobalViewOptions): GlobalViewSettings {
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

function need(isRight: boolean, option: string, rule: string, value: unknown): void {
  if (!isRight) throw new InvalidConfigError(option, rule, value);
}

/** Different for different agents, and the same each time for the same one. */
function randomOf(agentId: string): () => number {
  let calls = 0;
  return () => hash32(agentId, calls++) / 2 ** 32;
}
