import { need } from "@hivepace/core/internal";
import { checkLimits } from "./check-limits.ts";
import { above, amount, oneOf, part, range, whole } from "./option-rules.ts";
import type { FailureOptions, ProviderOptions, QuotaOptions } from "./provider-options.ts";

const KINDS: readonly ProviderOptions["kind"][] = ["sliding", "fixed", "bucket"];
const COUNTS: readonly ProviderOptions["countsTokens"][] = ["actual-at-start", "estimate-at-start", "usage-at-end"];

/** Validates the options of a provider. `windowMs` is the window of the limits, of which a sub-window is a fraction. */
export function checkProvider(option: string, provider: Partial<ProviderOptions>, windowMs: number): void {
  const { kind, burst, latencyMs, callMs, retryAfterMs, countsTokens, subWindowMs } = provider;
  const { countsRefused, maxInFlight, failures, quota, headers } = provider;
  if (kind !== undefined) oneOf(`${option}.kind`, kind, KINDS);
  if (burst !== undefined) above(`${option}.burst`, burst);
  if (latencyMs) range(`${option}.latencyMs`, latencyMs);
  if (callMs) {
    above(`${option}.callMs.median`, callMs.median);
    amount(`${option}.callMs.sigma`, callMs.sigma);
    range(`${option}.callMs`, [callMs.from, callMs.to]);
  }
  if (retryAfterMs !== undefined) amount(`${option}.retryAfterMs`, retryAfterMs);
  if (countsTokens !== undefined) oneOf(`${option}.countsTokens`, countsTokens, COUNTS);
  if (subWindowMs !== undefined) {
    above(`${option}.subWindowMs`, subWindowMs);
    need(subWindowMs < windowMs, `${option}.subWindowMs`, `shorter than the window, ${windowMs}`, subWindowMs);
  }
  isFlag(`${option}.countsRefused`, countsRefused);
  isFlag(`${option}.headers`, headers);
  if (maxInFlight !== undefined) whole(`${option}.maxInFlight`, maxInFlight);
  if (failures) checkFailures(`${option}.failures`, failures);
  if (quota) checkQuota(`${option}.quota`, quota);
}

function checkFailures(option: string, { errors = 0, overloads = 0, retryAfterMs }: FailureOptions): void {
  part(`${option}.errors`, errors);
  part(`${option}.overloads`, overloads);
  need(errors + overloads <= 1, option, "parts that sum up to 1 at most", errors + overloads);
  if (retryAfterMs !== undefined) amount(`${option}.retryAfterMs`, retryAfterMs);
}

function checkQuota(option: string, quota: QuotaOptions): void {
  checkLimits(option, quota);
  if (quota.used !== undefined) part(`${option}.used`, quota.used);
  isFlag(`${option}.tellsWait`, quota.tellsWait);
}

function isFlag(option: string, value: unknown): void {
  need(value === undefined || typeof value === "boolean", option, "true or false", value);
}
