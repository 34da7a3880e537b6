import type { DistributedConfig } from "../../../src/index.ts";

/** The state before the first command: limiters with shared limits, and the connection between them. */
export interface Setup {
  readonly agents: number;
  readonly bus: "perfect" | "lossy";
  /** Whether a store grants parts of the limits. */
  readonly hasStore: boolean;
  readonly sharing: "fair" | "none";
  readonly resources: readonly Limit[];
  readonly options: Pick<
    DistributedConfig,
    | "reduceFactor"
    | "recoveryFactor"
    | "recoveryIntervalMs"
    | "maxRecovery"
    | "heartbeatIntervalMs"
    | "cooldownMs"
    | "isolation"
    | "maxQueue"
    | "secret"
  >;
  /** Amounts, windows and factors are at the edges of the allowed ranges. Only laws that need no model are checked. */
  readonly isExtreme?: boolean;
}

export interface Limit {
  readonly resource: string;
  readonly capacity: number;
  readonly windowMs: number;
}

export interface Patience {
  readonly cost?: number;
  readonly timeoutMs?: number;
  readonly priority?: number;
  /** Calls with the same number share a signal. */
  readonly signal?: number;
}

/**
 * A command of a program. `agent` is a number, modulo the number of agents; where it is optional, its absence means all
 * agents.
 */
export type Command =
  | { readonly do: "acquire" | "run"; readonly agent: number; readonly resource: string; readonly options: Patience }
  /** Makes this many calls with the same cost. */
  | {
      readonly do: "try";
      readonly agent: number;
      readonly resource: string;
      readonly times: number;
      readonly cost?: number;
    }
  | { readonly do: "release"; readonly agent: number; readonly resource: string; readonly cost?: number }
  | { readonly do: "finish"; readonly agent: number; readonly resource: string }
  | ({ readonly do: "set"; readonly agent?: number } & Limit)
  | { readonly do: "remove"; readonly agent?: number; readonly resource: string }
  | {
      readonly do: "announce";
      readonly agent: number;
      readonly resource: string;
      readonly count: number;
      readonly retryAfterMs?: number;
      readonly kind?: "overload";
    }
  | { readonly do: "abort"; readonly signal: number }
  | { readonly do: "listen"; readonly agent: number; readonly how: "throws" | "reenters" }
  | { readonly do: "illegal"; readonly agent: number; readonly call: number }
  | { readonly do: "restart"; readonly agent: number }
  | { readonly do: "partition"; readonly agent: number; readonly forMs: number }
  | { readonly do: "outage"; readonly forMs: number }
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "sleep"; readonly ms: number };
