import type { EndpointConfig, KeyLimits, LimitObservation } from "@hivepace/core";
import type { HiveOptions } from "../../../src/index.ts";

/** What exists before the first command: hives that share limits, and how they hear each other. */
export interface Setup {
  readonly hives: number;
  /** One hive may have no bus at all. */
  readonly bus: "none" | "perfect" | "lossy";
  /** "view": a store sums up counts; "store": it also hands out the limits. */
  readonly store: "none" | "view" | "store";
  readonly endpoints: readonly EndpointConfig[];
  readonly keys: Readonly<Record<string, KeyLimits>>;
  readonly options: Pick<
    HiveOptions,
    | "windowMs"
    | "leaseMs"
    | "maxQueue"
    | "maxRecovery"
    | "isolation"
    | "strategy"
    | "recoveryIntervalMs"
    | "recoveryFactor"
    | "reduceFactor"
    | "cooldownMs"
    | "heartbeatIntervalMs"
    | "mode"
    | "secret"
    | "mockEndpointTpmThreshold"
  >;
  /** Amounts, windows and factors at the edges of what is allowed. Only laws that need no model are checked. */
  readonly isExtreme?: boolean;
}

/** A call that a hive is asked for. `signal` is a number: requests with the same one are aborted together. */
export interface Ask {
  readonly endpoint?: string;
  readonly route?: readonly string[];
  readonly model?: string;
  readonly key?: string;
  readonly session?: string;
  readonly tokens?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly timeoutMs?: number;
  readonly priority?: number;
  readonly signal?: number;
}

export type Command =
  | { readonly do: "acquire" | "try" | "route"; readonly hive: number; readonly ask: Ask }
  /** A denied try is repeated when its `retryAfterMs` is over. */
  | { readonly do: "retry"; readonly hive: number; readonly ask: Ask }
  /** An explanation, and a small try that must agree with it. */
  | { readonly do: "probe"; readonly hive: number; readonly endpoint: string; readonly model?: string }
  /** Ends a lease that was granted: the one at this index, modulo their number. */
  | { readonly do: "done"; readonly lease: number; readonly part?: number }
  | { readonly do: "cancel" | "renew"; readonly lease: number }
  | {
      readonly do: "refused";
      readonly lease: number;
      readonly retryAfterMs?: number;
      readonly kind?: "limit" | "overload";
    }
  | { readonly do: "abort"; readonly signal: number }
  | { readonly do: "observe"; readonly hive: number; readonly observation: LimitObservation }
  | { readonly do: "announce"; readonly hive: number; readonly endpoint: string; readonly retryAfterMs?: number }
  /** This many refusals, one right after the other. */
  | { readonly do: "cuts"; readonly hive: number; readonly endpoint: string; readonly count: number }
  /** This many calls that are cancelled at once. */
  | { readonly do: "burst"; readonly hive: number; readonly endpoint: string; readonly count: number }
  | {
      readonly do: "reconfigure";
      /** One hive, or all of them when absent. */
      readonly hive?: number;
      readonly endpoints?: readonly EndpointConfig[];
      readonly keys?: Readonly<Record<string, KeyLimits>>;
    }
  /** A call that must be refused with a typed error, and must change nothing. */
  | { readonly do: "illegal"; readonly hive: number; readonly call: number }
  /** A listener that throws, that calls the hive again from inside, or that ends the lease again that is just ending. */
  | { readonly do: "listen"; readonly hive: number; readonly how: "throws" | "reenters" | "ends" }
  | { readonly do: "restart"; readonly hive: number; readonly drainMs?: number }
  | { readonly do: "partition"; readonly hive: number; readonly forMs: number }
  | { readonly do: "outage"; readonly forMs: number }
  /** Time passes. */
  | { readonly do: "pass"; readonly ms: number }
  /** All processes stand still, as on a machine that sleeps. */
  | { readonly do: "sleep"; readonly ms: number };
