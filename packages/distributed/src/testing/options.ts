import type { Isolation } from "../engine/silence.ts";
import type { Tuning } from "../engine/tuning.ts";
import type { CostModel } from "./costs.ts";

/** How the agents share the limit. "hive" is what Hivepace does; the others are there to be compared with it. */
export type Scheme = "hive" | "naive" | "equal-split" | "gossip" | "drop-ratio";

/** The code that a simulation runs: whole hives, limiters, or only the pure engine. */
export type Drive = "hive" | "limiter" | "engine";

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
  /** Figures count from here on. Default: after two windows, or a third of a short run. */
  readonly measureFrom?: number | undefined;
  readonly isolation?: Isolation | undefined;
  readonly expectedAgents?: number | undefined;
  /** Of each agent, in order; those that have none weigh 1. */
  readonly weights?: readonly number[] | undefined;
  /** What the agents call themselves: by mistake two may use one name. Default: each its own. */
  readonly names?: readonly string[] | undefined;
  /** Agents that start only when a "join" tells them to. */
  readonly absent?: readonly number[] | undefined;
  /** By how much an agent's clock is too fast or too slow at most, as a part. Default: 0.0001. */
  readonly drift?: number | undefined;
  /** With a store that agents may ask. Default: none, only the bus. */
  readonly store?: StoreOptions | undefined;
  /** Called now and then with how far it is, in milliseconds of virtual time. */
  readonly onProgress?: ((timeMs: number) => void) | undefined;
  /** Changes the algorithm, to see what a part of it is good for. */
  readonly tuning?: Partial<Tuning> | undefined;
}

/** A store that hands out the limit, and how it behaves. */
export interface StoreOptions {
  readonly aggregation: "store" | "auto";
  /** From more agents than this on the store, from fewer than that on the bus again. Default: 300 and 200. */
  readonly above?: number | undefined;
  readonly below?: number | undefined;
  /** How long a call takes, from and to. Default: 2 to 10. */
  readonly latencyMs?: readonly [number, number] | undefined;
  /** After so long a call is given up. Default: 2,000. */
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

export interface Demand {
  /** What all agents together want to send, in limits per window; at some time, when it is a function. */
  readonly load: number | ((timeMs: number) => number);
  /** How uneven it is among the agents: 0 not at all, 1 (default) as in Zipf's law. Or the part of each agent. */
  readonly skew?: number | readonly number[] | ((agent: number, timeMs: number) => number) | undefined;
  /** Tokens of a call. Default: none, only requests count. */
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
  /** After about so long a call gives up. Default: never. */
  readonly patienceMs?: number | undefined;
  /** An agent with so many waiting calls takes no more. Default: 60 or a limit's worth, whichever is less. */
  readonly maxQueue?: number | undefined;
  /** These agents never wait in line: they try, and try again a little later. */
  readonly tryOnly?: readonly number[] | undefined;
}

export interface Burst {
  readonly at: number;
  /** In limits. */
  readonly load: number;
  /** To whom. Default: to all, in turn. */
  readonly agents?: readonly number[] | undefined;
}

export interface NetworkOptions {
  /** Parts of all deliveries. */
  readonly loss: number;
  readonly duplicates: number;
  readonly slow: number;
  /** From and to. */
  readonly delayMs: readonly [number, number];
  readonly slowMs: readonly [number, number];
}

/** How a provider enforces its limits, and what it says in its answers. */
export interface ProviderOptions {
  /** How it enforces its limits: the most in any window, in windows one after the other, or a bucket that refills. */
  readonly kind: "sliding" | "fixed" | "bucket";
  /** What a bucket holds, in limits. @defaultValue 1 */
  readonly burst: number;
  /** How long an answer takes, from and to, in milliseconds. @defaultValue 150 to 150 */
  readonly latencyMs: readonly [number, number];
  /** How long accepted calls take, lognormal, in milliseconds. @defaultValue as `latencyMs` */
  readonly callMs?: { readonly median: number; readonly sigma: number; readonly from: number; readonly to: number };
  /** What a refusal asks to wait. @defaultValue nothing */
  readonly retryAfterMs: number | undefined;
  /**
   * When and how tokens are counted: at the start, by what the call will really use (no provider can; the simplest model)
   * or by its estimate; or at the end, by usage. @defaultValue "actual-at-start"
   */
  readonly countsTokens: "actual-at-start" | "estimate-at-start" | "usage-at-end";
  /** Limits are also enforced in windows of this length, each with its part of them. @defaultValue none */
  readonly subWindowMs?: number | undefined;
  /** Whether a refused call counts as a request, as with OpenAI. @defaultValue false */
  readonly countsRefused?: boolean | undefined;
  /** Calls that all agents together have in flight at most. @defaultValue any number */
  readonly maxInFlight?: number | undefined;
  /** Answers at random that say nothing about limits. @defaultValue none */
  readonly failures?: FailureOptions | undefined;
  /** A quota of a long window besides the limits. @defaultValue none */
  readonly quota?: QuotaOptions | undefined;
  /** Whether answers carry limit, remaining and reset. @defaultValue false */
  readonly headers?: boolean | undefined;
}

/** Parts of all calls that a provider answers with an error. */
export interface FailureOptions {
  /** Server errors (5xx). @defaultValue 0 */
  readonly errors?: number | undefined;
  /** Overload answers (529), and the wait that they ask for. @defaultValue 0 */
  readonly overloads?: number | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** A quota of a long window: when it is gone, every call is refused until the window ends. */
export interface QuotaOptions extends Limits {
  /** The part that is used when the simulation begins. @defaultValue 0 */
  readonly used?: number | undefined;
  /** Whether refusals say how long the quota is gone. @defaultValue false */
  readonly tellsWait?: boolean | undefined;
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

export const providerDefaults: ProviderOptions = {
  kind: "sliding",
  burst: 1,
  latencyMs: [150, 150],
  retryAfterMs: undefined,
  countsTokens: "actual-at-start",
};

/** The limits in order: requests, then tokens, as far as they are limited. */
export function amountsOf({ requests, tokens }: Pick<Limits, "requests" | "tokens">): number[] {
  return [requests, tokens].filter((limit) => limit !== undefined);
}
