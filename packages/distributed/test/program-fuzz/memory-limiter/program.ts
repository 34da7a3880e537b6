/** The state before the first command: a limiter, and its first resources. */
export interface Setup {
  readonly maxQueue?: number | undefined;
  /** Whether resources whose names begin with "demand" are created on demand. */
  readonly onDemand: boolean;
  /** Whether the limiter is closed while calls may still wait. */
  readonly closesEarly: boolean;
  readonly resources: readonly Limit[];
}

export interface Limit {
  readonly resource: string;
  readonly capacity: number;
  readonly windowMs: number;
  readonly burst?: number | undefined;
}

export interface Patience {
  readonly cost?: number;
  readonly timeoutMs?: number;
  readonly priority?: number;
  /** Calls with the same number share a signal. */
  readonly signal?: number;
}

export type Command =
  | { readonly do: "acquire"; readonly resource: string; readonly options: Patience }
  | { readonly do: "try" | "release"; readonly resource: string; readonly cost?: number }
  | { readonly do: "finish" | "remove" | "announce"; readonly resource: string }
  /** Runs work that takes this long and succeeds or fails. */
  | {
      readonly do: "run";
      readonly resource: string;
      readonly options: Patience;
      readonly workMs: number;
      readonly fails: boolean;
    }
  | ({ readonly do: "set" } & Limit)
  | { readonly do: "abort"; readonly signal: number }
  | { readonly do: "listen"; readonly how: "throws" | "reenters" | "sets" }
  | { readonly do: "illegal"; readonly call: number }
  | { readonly do: "pass"; readonly ms: number }
  /** Freezes the process, as when the machine sleeps: timers fire late. */
  | { readonly do: "sleep"; readonly ms: number };
