import type { Isolation } from "../engine/silence.ts";
import type { Tuning } from "../engine/tuning.ts";
import type { CostModel } from "./costs.ts";
import type { ProviderOptions } from "./provider-options.ts";

/** How the agents share the limit. "hive" is what Hivepace does; the others are there to be compared with it. */
export type Scheme = "hive" | "naive" | "equal-split" | "gossip" | "drop-ratio";

/** The code that a simulation runs: whole hives, limiters, or only the pure engine. */
export type Drive = "hive" | "limiter" | "engine";

/** A simulated swarm: its agents, limits, demand, providers, network, and the faults that happen to it. */
export interface SimulationOptions {
  /** The same seed gives the same run, to the last message. */
  readonly seed: number;
  readonly agents: number;
  readonly limits: Limits;
  readonly demand: Demand;
  /** In milliseconds of virtual time. */
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
   * Several endpoints, all with limits of the same kinds. What an endpoint does not say is as in `limits` and `provider`.
   * With `drive: "hive"` only.
   *
   * @defaultValue one endpoint
   */
  readonly endpoints?: readonly EndpointOptions[] | undefined;
  /** Tenant keys that calls are made for. With `drive: "hive"` only. @defaultValue none */
  readonly keys?: readonly KeyOptions[] | undefined;
  /** Agents whose hive only observes: it counts and never makes a call wait. With `drive: "hive"` only. */
  readonly observers?: readonly number[] | undefined;
  /** Time from which figures count, in milliseconds. @defaultValue after two windows, or a third of a short run */
  readonly measureFrom?: number | undefined;
  readonly isolation?: Isolation | undefined;
  readonly expectedAgents?: number | undefined;
  /** Relative weight of each agent under contention, in order. @defaultValue 1 */
  readonly weights?: readonly number[] | undefined;
  /** Ids of the agents, in order; two agents may have the same id by mistake. @defaultValue a different id for each */
  readonly names?: readonly string[] | undefined;
  /** Agents that start only when a "join" tells them to. */
  readonly absent?: readonly number[] | undefined;
  /** Largest deviation of an agent's clock from the world's speed, as a part. @defaultValue 0.0001 */
  readonly drift?: number | undefined;
  /** A store that agents may use besides the bus. @defaultValue none */
  readonly store?: StoreOptions | undefined;
  /** Called once for each second of virtual time with the present time, in milliseconds. */
  readonly onProgress?: ((timeMs: number) => void) | undefined;
  /** Changes parameters of the engine, to measure what a mechanism is worth. With `drive: "engine"` only. */
  readonly tuning?: Partial<Tuning> | undefined;
}

/** A store that hands out the limit, and how it behaves. */
export interface StoreOptions {
  readonly aggregation: "store" | "auto";
  /** With "auto": the store is used above this number of agents, and the bus again below the other. @defaultValue 300 and 200 */
  readonly above?: number | undefined;
  readonly below?: number | undefined;
  /** Duration of a call, from and to, in milliseconds. @defaultValue 2 to 10 */
  readonly latencyMs?: readonly [number, number] | undefined;
  /** Time after which a call is given up, in milliseconds. @defaultValue 2,000 */
  readonly timeoutMs?: number | undefined;
}

/** In each window of `windowMs` (default: a minute). */
export interface Limits {
  readonly requests?: number | undefined;
  readonly tokens?: number | undefined;
  readonly windowMs?: number | undefined;
  /** Calls that one agent has in flight at most. With `drive: "hive"` only. @defaultValue any number */
  readonly maxInFlight?: number | undefined;
}

/** One of several endpoints. */
export interface EndpointOptions {
  readonly id: string;
  readonly limits?: Omit<Limits, "windowMs"> | undefined;
  readonly provider?: Partial<ProviderOptions> | undefined;
  /** Relative part of the calls that are for this endpoint only, with `demand.route: "one"`. @defaultValue 1 */
  readonly part?: number | undefined;
}

/** A tenant key, and its part of the calls. */
export interface KeyOptions {
  readonly key: string;
  /** Limits of the key in each window, over all endpoints. @defaultValue none */
  readonly limits?: Pick<Limits, "requests" | "tokens"> | undefined;
  /** Whether hives learn the limits from `limitsForKey` instead of `keys`. @defaultValue false */
  readonly isDynamic?: boolean | undefined;
  /** Relative part of all calls. @defaultValue 1 */
  readonly part?: number | undefined;
}

/** The calls that agents want to send. */
export interface Demand {
  /** Demand of all agents together, in limits per window; a function of the time in milliseconds when it varies. */
  readonly load: number | ((timeMs: number) => number);
  /** Exponent of the distribution among the agents: 0 is even, 1 is Zipf's law. Or the part of each agent. @defaultValue 1 */
  readonly skew?: number | readonly number[] | ((agent: number, timeMs: number) => number) | undefined;
  /** Tokens of a call. Required when tokens are limited. @defaultValue none */
  readonly tokens?: CostModel | undefined;
  /**
   * How far estimates are off: the estimate of a call is its real usage × `bias` × a lognormal factor of median 1 and of this
   * `spread` (sigma). Takes the place of `actual` in `tokens`. @defaultValue as `tokens` says
   */
  readonly estimate?: { readonly bias: number; readonly spread: number } | undefined;
  /** Whether a call may go to any of several endpoints, or is for one of them. @defaultValue "any" */
  readonly route?: "any" | "one" | undefined;
  /** Calls that come all at once. */
  readonly bursts?: readonly Burst[] | undefined;
  /** Mean time after which a waiting call gives up, in milliseconds. @defaultValue never */
  readonly patienceMs?: number | undefined;
  /** Number of waiting calls beyond which an agent drops new ones. @defaultValue 60, or the limit when that is less */
  readonly maxQueue?: number | undefined;
  /** Agents that never wait in line: their calls are tried again every 100 ms or so. */
  readonly tryOnly?: readonly number[] | undefined;
}

/** Calls that come all at once. */
export interface Burst {
  /** Time, in milliseconds. */
  readonly at: number;
  /** Size, in limits. */
  readonly load: number;
  /** Agents that get the calls, in turn. @defaultValue all */
  readonly agents?: readonly number[] | undefined;
}

/** How messages travel between agents. */
export interface NetworkOptions {
  /** Parts of all deliveries that are lost, repeated, or slow. */
  readonly loss: number;
  readonly duplicates: number;
  readonly slow: number;
  /** Delay of usual and of slow deliveries, from and to, in milliseconds. */
  readonly delayMs: readonly [number, number];
  readonly slowMs: readonly [number, number];
}

/** What goes wrong, or just changes, at some time. Agents are numbers from 0. */
export type Fault = { readonly at: number } & (
  | { readonly type: "crash" | "leave" | "join"; readonly agents: readonly number[] }
  /** Ends, with or without a goodbye, and starts again with the same name and nothing else. */
  | {
      readonly type: "restart";
      readonly agents: readonly number[];
      readonly downMs: number;
      readonly graceful: boolean;
      /** The wall clock has gone back meanwhile: the new life seems to be an earlier one. */
      readonly isEarlier?: boolean;
      /** The agent comes back under a new id, as a process does whose id is random. */
      readonly isRenamed?: boolean;
    }
  /** Cut off from the bus: both ways, or only from hearing, or from being heard. */
  | {
      readonly type: "cut" | "deafen" | "mute";
      readonly agents: readonly number[];
      readonly forMs: number;
    }
  | { readonly type: "split"; readonly groups: readonly (readonly number[])[]; readonly forMs: number }
  | { readonly type: "bus-down"; readonly forMs: number }
  | { readonly type: "network"; readonly network: Partial<NetworkOptions>; readonly forMs: number }
  /** The store cannot be reached, by all or by these; its calls hang, fail in part; it forgets all. */
  | { readonly type: "store-down"; readonly forMs: number; readonly agents?: readonly number[] }
  | { readonly type: "store-stall"; readonly forMs: number }
  | { readonly type: "store-errors"; readonly forMs: number; readonly part: number }
  | { readonly type: "store-flush" }
  /** Another server takes over, after so long, which knows only what was so long before that. */
  | { readonly type: "store-failover"; readonly staleMs: number; readonly forMs: number }
  /** The process stands still, and then goes on. */
  | { readonly type: "freeze"; readonly agents: readonly number[]; readonly forMs: number }
  /** The provider allows only this part of its limits: of all endpoints, or of these. */
  | {
      readonly type: "provider";
      readonly factor: number;
      readonly forMs: number;
      readonly endpoints?: readonly string[] | undefined;
    }
  /** The provider refuses the next call of these agents for no reason. */
  | { readonly type: "refuse"; readonly agents: readonly number[]; readonly retryAfterMs?: number }
  /** All agents, or these, are told of new limits; the provider has them, too, when it is all. */
  | { readonly type: "limits"; readonly limits: Limits; readonly agents?: readonly number[] }
  /** A message from nowhere arrives at everyone. */
  | { readonly type: "inject"; readonly message: unknown }
);

export const networkDefaults: NetworkOptions = {
  loss: 0.05,
  duplicates: 0.01,
  slow: 0.02,
  delayMs: [50, 100],
  slowMs: [300, 500],
};

/** The limits in order: requests, then tokens, as far as they are limited. */
export function amountsOf({ requests, tokens }: Pick<Limits, "requests" | "tokens">): number[] {
  return [requests, tokens].filter((limit) => limit !== undefined);
}
