import type { EndpointConfig, KeyLimits, LimitObservation } from "@hivepace/core";
import type { HiveOptions } from "../../src/index.ts";

/**
 * A program over the public API of hives, as plain data: it can be generated from a seed, run, made smaller, and printed
 * so that somebody can read what went wrong.
 */
export interface Program {
  readonly seed: number;
  /** Hives that share the limits. One hive may have no bus at all. */
  readonly hives: number;
  readonly bus: "none" | "perfect" | "lossy";
  readonly endpoints: readonly EndpointConfig[];
  readonly keys: Readonly<Record<string, KeyLimits>>;
  readonly options: Pick<
    HiveOptions,
    "windowMs" | "leaseMs" | "maxQueue" | "maxRecovery" | "isolation" | "strategy" | "recoveryIntervalMs"
  >;
  readonly commands: readonly Command[];
}

/** A call that a hive is asked for. `signal` is a number: requests with the same one are aborted together. */
export interface Ask {
  readonly endpoint?: string;
  readonly route?: readonly string[];
  readonly model?: string;
  readonly key?: string;
  readonly tokens: number;
  readonly inputTokens?: number;
  readonly timeoutMs?: number;
  readonly priority?: number;
  readonly signal?: number;
}

export type Command =
  | { readonly do: "acquire" | "try"; readonly hive: number; readonly ask: Ask }
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
  | {
      readonly do: "reconfigure";
      /** One hive, or all of them when absent. */
      readonly hive?: number;
      readonly endpoints?: readonly EndpointConfig[];
      readonly keys?: Readonly<Record<string, KeyLimits>>;
    }
  /** A call that must be refused with a typed error, and must change nothing. */
  | { readonly do: "illegal"; readonly hive: number; readonly call: number }
  /** A listener that throws, or that calls the hive again from inside. */
  | { readonly do: "listen"; readonly hive: number; readonly how: "throws" | "reenters" }
  | { readonly do: "restart"; readonly hive: number }
  | { readonly do: "partition"; readonly hive: number; readonly forMs: number }
  | { readonly do: "outage"; readonly forMs: number }
  /** Time passes. */
  | { readonly do: "pass"; readonly ms: number }
  /** All processes stand still, as a machine does that sleeps. */
  | { readonly do: "sleep"; readonly ms: number };

/** For people: one command in a line. */
export function printed({ commands, ...rest }: Program): string {
  return [JSON.stringify(rest), ...commands.map((command) => `  ${JSON.stringify(command)}`)].join("\n");
}
