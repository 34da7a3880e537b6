import type { EndpointConfig, KeyLimits, RateConfig, RateRequest } from "@hivepace/core";

/** The state before the first command: one manager, or two that share memory. */
export interface Setup {
  readonly windowMs: number;
  readonly window: "fixed" | "sliding";
  readonly isShared: boolean;
  readonly mockEndpointTpmThreshold?: number | undefined;
  readonly endpoints: readonly EndpointConfig[];
  readonly keys: Readonly<Record<string, KeyLimits>>;
}

/** A command of a program. `via` selects the manager, modulo their number. */
export type Command =
  | { readonly do: "check" | "peek" | "handle"; readonly via: number; readonly request: RateRequest }
  /** Settles the allowed decision at this index, modulo their number. */
  | {
      readonly do: "settle";
      readonly via: number;
      readonly decision: number;
      readonly tokens: number;
      readonly inputTokens?: number;
      readonly outputTokens?: number;
    }
  | { readonly do: "cancel"; readonly via: number; readonly decision: number }
  | { readonly do: "set"; readonly via: number; readonly endpoint: EndpointConfig }
  | { readonly do: "remove"; readonly via: number; readonly id: string; readonly model?: string }
  | { readonly do: "set-key"; readonly via: number; readonly id: string; readonly limits: KeyLimits }
  | { readonly do: "remove-key"; readonly via: number; readonly id: string }
  | { readonly do: "load"; readonly via: number; readonly config: RateConfig }
  /** Shifts the windows to those of a clock that is this much ahead. */
  | { readonly do: "rephase"; readonly via: number; readonly aheadMs: number }
  | { readonly do: "illegal"; readonly via: number; readonly call: number }
  | { readonly do: "pass"; readonly ms: number };
