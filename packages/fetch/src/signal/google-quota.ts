import { isRecord } from "../untyped.ts";
import { parseCount, parseDuration, saneMs } from "./amounts.ts";
import { type DimensionSet, WINDOWS, withoutAbsent } from "./dimension-set.ts";
import type { ErrorBody } from "./error-body.ts";

/** The statements of Google's error details: the quota, its window, and the wait. */
export interface GoogleQuota {
  readonly retryMs: number | undefined;
  /** Whether a quota that was hit is one of a day or more. */
  readonly isLong: boolean;
  /** Whether a quota that was hit is zero, which means that the model is not in the plan. */
  readonly isZero: boolean;
}

interface Violation {
  /** Names the quota: "GenerateRequestsPerDayPerProjectPerModel-FreeTier". */
  readonly id: string;
  readonly limit: number | undefined;
}

export function readGoogleQuota({ details, message }: ErrorBody, dims: DimensionSet): GoogleQuota {
  let retryMs: number | undefined;
  const violations: Violation[] = [];
  for (const detail of details) {
    const type = String(detail["@type"] ?? "");
    // Some gateways drop the types.
    if (type.endsWith("google.rpc.RetryInfo") || type === "") retryMs ??= durationOf(detail["retryDelay"]);
    if (type.endsWith("google.rpc.QuotaFailure") && Array.isArray(detail["violations"]))
      for (const violation of detail["violations"].slice(0, 32))
        if (isRecord(violation)) violations.push(read(violation));
    if (type.endsWith("google.rpc.ErrorInfo") && isRecord(detail["metadata"])) {
      const { quota_limit: id, quota_limit_value: value, quotaResetDelay } = detail["metadata"];
      if (typeof id === "string") violations.push({ id, limit: parseCount(String(value ?? "")) });
      retryMs ??= durationOf(quotaResetDelay);
    }
  }
  const found = violations.map(({ id, limit }) => ({ dimension: dimensionOf(id), window: windowOf(id), limit }));
  // The shortest window of a dimension has its plain name.
  found.sort((a, b) => (WINDOWS[a.window ?? ""] ?? 0) - (WINDOWS[b.window ?? ""] ?? 0));
  for (const { dimension, window, limit } of found) {
    if (dimension === undefined || limit === undefined) continue;
    const name = dims.has(dimension) && window !== undefined ? `${dimension}_${window}` : dimension;
    dims.add(name, withoutAbsent({ limit, windowMs: window === undefined ? undefined : WINDOWS[window] }));
  }
  const isZero = found.some(({ limit }) => limit === 0) || /\blimit: 0(?!\.?\d)/.test(message);
  return { retryMs, isLong: found.some(({ window }) => window === "day" || window === "month"), isZero };
}

function read(violation: Record<string, unknown>): Violation {
  const id = [violation["quotaId"], violation["quotaMetric"], violation["subject"]].filter(
    (part) => typeof part === "string",
  );
  return { id: id.join(" ").slice(0, 512), limit: parseCount(String(violation["quotaValue"] ?? "")) };
}

function durationOf(value: unknown): number | undefined {
  if (isRecord(value)) {
    const ms = Number(value["seconds"] ?? 0) * 1_000 + Number(value["nanos"] ?? 0) / 1e6;
    return ms >= 0 ? saneMs(ms) : undefined;
  }
  const duration = typeof value === "string" ? parseDuration(value) : undefined;
  return duration === undefined ? undefined : saneMs(duration);
}

function dimensionOf(id: string): string | undefined {
  if (/input.?token/i.test(id)) return "input_tokens";
  if (/output.?token/i.test(id)) return "output_tokens";
  if (/token/i.test(id)) return "tokens";
  return /request/i.test(id) ? "requests" : undefined;
}

function windowOf(id: string): string | undefined {
  return /per.?(second|minute|hour|day|month)/i.exec(id)?.[1]?.toLowerCase();
}
