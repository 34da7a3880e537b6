import type { OptionNames } from "../known-options.ts";
import type { RateConfig } from "./rate-config.ts";
import type { EndpointConfig, KeyLimits, RateManagerOptions } from "./rate-types.ts";

/** Option names of this folder. The compiler checks that each list is complete. */
export const ENDPOINT_OPTIONS = {
  id: true,
  model: true,
  models: true,
  rpmLimit: true,
  tpmLimit: true,
  inputTpmLimit: true,
  outputTpmLimit: true,
  maxInFlightPerProcess: true,
} as const satisfies OptionNames<EndpointConfig>;

export const KEY_OPTIONS = { rpmLimit: true, tpmLimit: true } as const satisfies OptionNames<KeyLimits>;

export const CONFIG_OPTIONS = { endpoints: true, keys: true } as const satisfies OptionNames<RateConfig>;

export const MANAGER_OPTIONS = {
  windowMs: true,
  window: true,
  mockEndpointTpmThreshold: true,
  limitsForKey: true,
  clock: true,
  diagnostics: true,
  shared: true,
} as const satisfies OptionNames<RateManagerOptions>;
