import type { Isolation, Tuning } from "../engine/index.ts";
import type { WindowLimit } from "../hive/hive-types.ts";
import type { Recovery } from "../limiter/config.ts";
import type { CostModel } from "./costs.ts";
import type { ProviderOptions } from "./provider-options.ts";

/** How the agents share the limit. "hive" is Hivepace; the others are baselines for comparison. */
export type Scheme = "hive" | "naive" | "equal-split" | "gossip" | "drop-ratio";

/** The code that a simulation runs: whole hives, limiters, or only the pure engine. */
export type Drive = "hive" | "limiter" | "engine";

/** A simulated swarm: its agents, limits, demand, providers, network, and the faults that happen to it. */
export interface SimulationOptions {
  /** Runs with equal options and seed are identical, to the last message. */
  readonly seed: number;
  readonly agents: number;
  readonly limits: Limits;
  readonly demand: Demand;
  /** Length of the run in milliseconds of virtual time. */
  readonly duration: number;
  readonly faults?: readonly Fault[] | undefined;
  readonly network?: Partial<NetworkOptions> | undefined;
  readonly provider?: Partial<ProviderOptions> | undefined;
  readonly scheme?: Scheme | undefined;
  /**
   * The code that runs when the scheme is "hive". "hive" and "limiter" are the objects of `createHive` and
   * `createDistributedLimiter` on a simulated bus, store and clock. "engine" is the pure engine without them: several times
   * faster, for large swarms.
   *
   * @defaultValue "hive"
   */
  readonly drive?: Drive | undefined;
  /**
   * Several endpoints, all with limits of the same kinds. A setting that an endpoint omits is taken from `limits` and
   * `provider`. With `drive: "hive"` only.
   *
   * @defaultValue one endpoint
   */
  readonly endpoints?: readonly EndpointOptions[] | undefined;
  /** Tenant keys that calls are made for. With `drive: "hive"` only. @defaultValue none */
  readonly keys?: readonly KeyOptions[] | undefined;
  /** Agents whose hive runs in observe mode: the hive counts calls and never delays them. With `drive: "hive"` only. */
  readonly observers?: readonly number[] | undefined;
  /** Time from which figures count, in milliseconds. @defaultValue two windows, or a third of a short run */
  readonly measureFrom?: number | undefined;
  readonly isolation?: Isolation | undefined;
  /**
   * How agents cut and recover.
   *
   * @defaultValue the default of the object: a hive measures, a limiter and the pure engine recover in steps
   */
  readonly recovery?: Recovery | undefined;
  /** Whether hives and limiters learn shorter windows from refusals. @defaultValue false */
  readonly learnWindows?: boolean | undefined;
  readonly expectedAgents?: number | undefined;
  /** Relative weight of each agent under contention, in order. @defaultValue 1 */
  readonly weights?: readonly number[] | undefined;
  /**
   * Ids of the agents, in order. Two agents may have the same id, to simulate a mistake. @defaultValue a different id
   * for each
   */
  readonly names?: readonly string[] | undefined;
  /** Agents that start only with a "join" fault. */
  readonly absent?: readonly number[] | undefined;
  /** Largest deviation of an agent's clock speed from the world's, as a fraction. @defaultValue 0.0001 */
  readonly drift?: number | undefined;
  /** A store that agents may use besides the bus. @defaultValue none */
  readonly store?: StoreOptions | undefined;
  /** Called once for each second of virtual time with the present time, in milliseconds. */
  readonly onProgress?: ((timeMs: number) => void) | undefined;
  /** Overrides engine parameters, to measure the benefit of a mechanism. With `drive: "engine"` only. */
  readonly tuning?: Partial<Tuning> | undefined;
}

/** A store that grants parts of the limit, and its behaviour. */
export interface StoreOptions {
  readonly aggregation: "store" | "auto";
  /**
   * With "auto": numbers of agents above which the store is used, and below which the bus is used again. @defaultValue
   * 300 and 200
   */
  readonly above?: number | undefined;
  readonly below?: number | undefined;
  /** Minimum and maximum duration of a store call, in milliseconds. @defaultValue 2 to 10 */
  readonly latencyMs?: readonly [number, number] | undefined;
  /** Timeout of a store call, in milliseconds. @defaultValue 2,000 */
  readonly timeoutMs?: number | undefined;
}

/** Limits in each window of `windowMs`. @defaultValue a window of one minute */
export interface Limits {
  readonly requests?: number | undefined;
  readonly tokens?: number | undefined;
  readonly windowMs?: number | undefined;
  /** Calls that one agent may have in flight. With `drive: "hive"` only. @defaultValue unlimited */
  readonly maxInFlightPerProcess?: number | undefined;
  /** Limits over windows of their own that the agents know. With `drive: "hive"` only. @defaultValue none */
  readonly windows?: readonly WindowLimit[] | undefined;
}

/** One of several endpoints. */
export interface EndpointOptions {
  readonly id: string;
  readonly limits?: Omit<Limits, "windowMs"> | undefined;
  readonly provider?: Partial<ProviderOptions> | undefined;
  /** Relative share of the calls that may use only one endpoint, with `demand.route: "one"`. @defaultValue 1 */
  readonly part?: number | undefined;
}

/** A tenant key, and its share of the calls. */
export interface KeyOptions {
  readonly key: string;
  /** Limits of the key in each window, over all endpoints. @defaultValue none */
  readonly limits?: Pick<Limits, "requests" | "tokens"> | undefined;
  /** Whether hives learn the limits from `limitsForKey` instead of `keys`. @defaultValue false */
  readonly isDynamic?: boolean | undefined;
  /** Relative share of all calls. @defaultValue 1 */
  readonly part?: number | undefined;
}

/** The calls that agents want to send. */
export interface Demand {
  /** Total demand of all agents, in limits per window; a function of the time in milliseconds when demand varies. */
  readonly load: number | ((timeMs: number) => number);
  /**
   * Exponent of the Zipf distribution of demand among the agents (0 is even), or the share of each agent. @defaultValue
   * 1
   */
  readonly skew?: number | readonly number[] | ((agent: number, timeMs: number) => number) | undefined;
  /** Tokens of a call. Required when tokens are limited. @defaultValue none */
  readonly tokens?: CostModel | undefined;
  /**
   * Estimation error: the estimate of a call is its real usage × `bias` × a lognormal factor with median 1 and sigma
   * `spread`. Replaces `actual` in `tokens`. @defaultValue the rules of `tokens`
   */
  readonly estimate?: { readonly bias: number; readonly spread: number } | undefined;
  /** Whether a call may use any of several endpoints ("any") or only one of them ("one"). @defaultValue "any" */
  readonly route?: "any" | "one" | undefined;
  /** Additional calls that arrive all at once. */
  readonly bursts?: readonly Burst[] | undefined;
  /** Mean time until a waiting call gives up, in milliseconds. @defaultValue never */
  readonly patienceMs?: number | undefined;
  /** Number of waiting calls above which an agent drops new ones. @defaultValue 60, or the limit when that is less */
  readonly maxQueue?: number | undefined;
  /** Agents that never queue calls: each denied call is retried about every 100 ms. */
  readonly tryOnly?: readonly number[] | undefined;
}

/** Calls that arrive all at once. */
export interface Burst {
  /** Time, in milliseconds. */
  readonly at: number;
  /** Total size of the calls, in limits. */
  readonly load: number;
  /** Agents that receive the calls, in turn. @defaultValue all */
  readonly agents?: readonly number[] | undefined;
}

/** How messages travel between agents. */
export interface NetworkOptions {
  /** Fractions of all deliveries that are lost, duplicated, or slow. */
  readonly loss: number;
  readonly duplicates: number;
  readonly slow: number;
  /** Minimum and maximum delay of normal and of slow deliveries, in milliseconds. */
  readonly delayMs: readonly [number, number];
  readonly slowMs: readonly [number, number];
}

/** A fault or a planned change at a given time. Agents are numbered from 0. */
export type Fault = { readonly at: number } & (
  | { readonly type: "crash" | "leave" | "join"; readonly agents: readonly number[] }
  /** The agent stops, with or without a goodbye, and starts again with the same id and no state. */
  | {
      readonly type: "restart";
      readonly agents: readonly number[];
      readonly downMs: number;
      readonly graceful: boolean;
      /** The wall clock went back during the downtime, so that the new incarnation looks like an earlier one. */
      readonly isEarlier?: boolean;
      /** The agent comes back under a new id, as a process with a random id does. */
      readonly isRenamed?: boolean;
    }
  /** The agent is disconnected from the bus in both directions, receives nothing, or sends nothing. */
  | {
      readonly type: "cut" | "deafen" | "mute";
      readonly agents: readonly number[];
      readonly forMs: number;
    }
  | { readonly type: "split"; readonly groups: readonly (readonly number[])[]; readonly forMs: number }
  | { readonly type: "bus-down"; readonly forMs: number }
  | { readonly type: "network"; readonly network: Partial<NetworkOptions>; readonly forMs: number }
  /** The store is unreachable for all or some agents, hangs, fails a fraction of its calls, or loses all data. */
  | { readonly type: "store-down"; readonly forMs: number; readonly agents?: readonly number[] }
  | { readonly type: "store-stall"; readonly forMs: number }
  | { readonly type: "store-errors"; readonly forMs: number; readonly part: number }
  | { readonly type: "store-flush" }
  /** For `forMs` the store is down; then a replica takes over that is `staleMs` behind. */
  | { readonly type: "store-failover"; readonly staleMs: number; readonly forMs: number }
  /** The process is frozen, and then continues. */
  | { readonly type: "freeze"; readonly agents: readonly number[]; readonly forMs: number }
  /** The provider allows only this fraction of its limits, at all endpoints or at the given ones. */
  | {
      readonly type: "provider";
      readonly factor: number;
      readonly forMs: number;
      readonly endpoints?: readonly string[] | undefined;
    }
  /** The provider refuses the next call of each of these agents although the limit is not reached. */
  | { readonly type: "refuse"; readonly agents: readonly number[]; readonly retryAfterMs?: number }
  /** All agents, or the given ones, receive new limits. The provider adopts them only when all agents do. */
  | { readonly type: "limits"; readonly limits: Limits; readonly agents?: readonly number[] }
  /** Every agent receives a forged message. */
  | { readonly type: "inject"; readonly message: unknown }
);

export const networkDefaults: NetworkOptions = {
  loss: 0.05,
  duplicates: 0.01,
  slow: 0.02,
  delayMs: [50, 100],
  slowMs: [300, 500],
};

/** The limits as a list: requests, then tokens, without those that are not limited. */
export function amountsOf({ requests, tokens }: Pick<Limits, "requests" | "tokens">): number[] {
  return [requests, tokens].filter((limit) => limit !== undefined);
}
