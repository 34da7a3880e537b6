import type { Drive, SimulationOptions } from "./options.ts";

/**
 * Whether the drive supports these options: a limiter's resource has one dimension, engines and limiters know a single
 * endpoint without keys, and only engines can be tuned.
 */
export function canDrive(
  drive: Drive,
  options: Pick<SimulationOptions, "limits" | "endpoints" | "keys" | "observers" | "tuning">,
): boolean {
  const { limits, endpoints, keys, observers, tuning } = options;
  if (drive !== "engine" && tuning) return false;
  if (drive === "hive") return true;
  const isPlain = !endpoints && !keys && !observers && limits.maxInFlightPerProcess === undefined;
  return isPlain && (drive === "engine" || limits.requests === undefined || limits.tokens === undefined);
}
