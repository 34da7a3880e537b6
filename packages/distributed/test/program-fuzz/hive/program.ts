import type { LimitObservation, Refusal } from "@hivepace/core";
import type { HiveEndpoint, HiveKeyLimits, HiveOptions } from "../../../src/index.ts";

/** The state before the first command: hives with shared limits, and the connection between them. */
export interface Setup {
  readonly hives: number;
  /** "none" is for a single hive without a bus. */
  readonly bus: "none" | "perfect" | "lossy";
  /** With "view" a store sums up usage; with "store" it also grants parts of the limits. */
  readonly store: "none" | "view" | "store";
  readonly endpoints: readonly HiveEndpoint[];
  readonly keys: Readonly<Record<string, HiveKeyLimits>>;
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
    | "recovery"
    | "weights"
    | "minCapacity"
    | "secret"
    | "mockEndpointTpmThreshold"
  >;
  /** Amounts, windows and factors are at the edges of the allowed ranges. Only laws that need no model are checked. */
  readonly isExtreme?: boolean;
}

/** A call to a hive. `signal` is a number: calls with the same number are aborted together. */
export interface Ask {
  readonly endpoint?: string;
  readonly route?: readonly string[];
  /** The number of candidates in the first tier of the route; all of them when absent. */
  readonly firstTier?: number;
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

/** The work of a call that is made with `run`: its duration and its outcome. */
export interface Work {
  readonly forMs: number;
  /** "uses" reports the given part of the estimate as usage. */
  readonly outcome: "succeeds" | "uses" | "fails" | "limit" | "overload";
  readonly part?: number;
}

export type Command =
  | { readonly do: "acquire" | "try" | "route"; readonly hive: number; readonly ask: Ask }
  /** Retries a denied call when its `retryAfterMs` has passed. */
  | { readonly do: "retry"; readonly hive: number; readonly ask: Ask }
  /** Asks for an explanation, and makes a small call that must agree with it. */
  | { readonly do: "probe"; readonly hive: number; readonly endpoint: string; readonly model?: string }
  /** Ends the granted lease at this index, modulo their number. */
  | { readonly do: "done"; readonly lease: number; readonly part?: number }
  | { readonly do: "cancel" | "renew"; readonly lease: number }
  | {
      readonly do: "refused";
      readonly lease: number;
      readonly retryAfterMs?: number;
      readonly kind?: Refusal["kind"];
      readonly concerns?: Refusal["concerns"];
    }
  | { readonly do: "abort"; readonly signal: number }
  | { readonly do: "observe"; readonly hive: number; readonly observation: LimitObservation }
  | { readonly do: "announce"; readonly hive: number; readonly endpoint: string; readonly retryAfterMs?: number }
  /** Announces this many refusals in quick succession. */
  | { readonly do: "cuts"; readonly hive: number; readonly endpoint: string; readonly count: number }
  /** Makes this many calls that are cancelled at once. */
  | { readonly do: "burst"; readonly hive: number; readonly endpoint: string; readonly count: number }
  | {
      readonly do: "reconfigure";
      /** The hive to reconfigure; all of them when absent. */
      readonly hive?: number;
      readonly endpoints?: readonly HiveEndpoint[];
      readonly keys?: Readonly<Record<string, HiveKeyLimits>>;
    }
  | { readonly do: "run"; readonly hive: number; readonly ask: Ask; readonly work: Work }
  | {
      readonly do: "failed";
      readonly lease: number;
      readonly concerns?: Refusal["concerns"];
      readonly wasSent?: boolean;
      readonly byCaller?: boolean;
    }
  | { readonly do: "answered"; readonly lease: number }
  | {
      readonly do: "park";
      readonly hive: number;
      readonly endpoint: string;
      readonly model?: string;
      readonly forMs?: number;
    }
  | { readonly do: "unpark"; readonly hive: number; readonly endpoint: string; readonly model?: string }
  /** Pauses or resumes one process. */
  | { readonly do: "hold" | "resume"; readonly hive: number }
  /** Adds or changes one endpoint, or removes one, at one hive or at all of them. */
  | { readonly do: "add"; readonly hive?: number; readonly endpoint: HiveEndpoint }
  | { readonly do: "drop"; readonly hive?: number; readonly endpoint: string; readonly model?: string }
  /** Makes an invalid call, which must fail with a typed error and change nothing. */
  | { readonly do: "illegal"; readonly hive: number; readonly call: number }
  /** Adds a listener that throws, that calls the hive from inside, or that ends again the lease that is just ending. */
  | { readonly do: "listen"; readonly hive: number; readonly how: "throws" | "reenters" | "ends" }
  | { readonly do: "restart"; readonly hive: number; readonly drainMs?: number }
  | { readonly do: "partition"; readonly hive: number; readonly forMs: number }
  | { readonly do: "outage"; readonly forMs: number }
  /** Lets time pass. */
  | { readonly do: "pass"; readonly ms: number }
  /** Freezes all processes, as when the machine sleeps. */
  | { readonly do: "sleep"; readonly ms: number };
