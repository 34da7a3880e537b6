import { need } from "@hivepace/core/internal";
import { KEPT } from "../engine/index.ts";
import { canDrive } from "./can-drive.ts";
import { checkDemand } from "./check-demand.ts";
import { checkFault, checkNetwork } from "./check-fault.ts";
import { checkLimits } from "./check-limits.ts";
import { checkProvider } from "./check-provider.ts";
import { above, amount, checkAgents, isAmount, oneOf, range, whole } from "./option-rules.ts";
import type { Drive, Limits, Scheme, SimulationOptions, StoreOptions } from "./options.ts";

const SCHEMES: readonly Scheme[] = ["hive", "naive", "equal-split", "gossip", "drop-ratio"];
const DRIVES: readonly Drive[] = ["hive", "limiter", "engine"];
const AGGREGATIONS: readonly StoreOptions["aggregation"][] = ["store", "auto"];
const WINDOW_MS = 60_000;

/** Throws INVALID_CONFIG with the option, the rule and the value before the simulation starts. */
export function checkOptions(options: SimulationOptions): void {
  const { seed, agents, limits, demand, duration, measureFrom, expectedAgents, weights = [], drift } = options;
  need(Number.isSafeInteger(seed), "seed", "a whole number", seed);
  whole("agents", agents);
  above("duration", duration);
  for (const [name, value] of Object.entries({ limits, demand }))
    need(typeof value === "object" && value !== null, name, "an object", value);
  checkLimits("limits", limits);
  checkDemand(demand, limits, agents);
  if (options.network) checkNetwork("network", options.network);
  if (options.provider) checkProvider("provider", options.provider, limits.windowMs ?? WINDOW_MS);
  if (options.store) checkStore(options.store);
  oneOf("scheme", options.scheme ?? "hive", SCHEMES);
  checkDrive(options);
  checkEndpoints(options);
  checkKeys(options);
  oneOf("isolation", options.isolation ?? "safe", Object.keys(KEPT));
  oneOf("recovery", options.recovery ?? "stepped", ["measured", "stepped"]);
  const isWithin = measureFrom === undefined || (isAmount(measureFrom) && measureFrom < duration);
  need(isWithin, "measureFrom", "a time from 0 on, before the end", measureFrom);
  if (expectedAgents !== undefined) whole("expectedAgents", expectedAgents);
  weights.forEach((weight, i) => {
    above(`weights[${i}]`, weight);
  });
  if (options.absent) checkAgents("absent", options.absent, agents);
  if (options.observers) checkAgents("observers", options.observers, agents);
  if (drift !== undefined) need(isAmount(drift) && drift < 1, "drift", "a number from 0 on, below 1", drift);
  options.faults?.forEach((fault, i) => {
    checkFault(`faults[${i}]`, fault, options);
  });
}

function checkDrive(options: SimulationOptions): void {
  const { scheme = "hive", drive = scheme === "hive" ? "hive" : "engine" } = options;
  oneOf("drive", drive, DRIVES);
  const { limits, endpoints, keys, observers, tuning } = options;
  if (drive === "limiter")
    need(
      limits.requests === undefined || limits.tokens === undefined,
      "limits",
      'one limit with drive "limiter"',
      limits,
    );
  if (drive !== "engine") need(tuning === undefined, "tuning", 'given only with drive "engine"', tuning);
  for (const [name, value] of Object.entries({
    endpoints,
    keys,
    observers,
    "limits.maxInFlightPerProcess": limits.maxInFlightPerProcess,
  }))
    need(value === undefined || drive === "hive", name, 'given only with drive "hive"', value);
  need(canDrive(drive, options), "drive", "one that can run these options", drive);
}

function checkEndpoints({ endpoints, limits }: SimulationOptions): void {
  if (!endpoints) return;
  need(endpoints.length > 0, "endpoints", "one at least", endpoints);
  endpoints.forEach((endpoint, i) => {
    const option = `endpoints[${i}]`;
    const isFirst = endpoints.findIndex(({ id }) => id === endpoint.id) === i;
    need(typeof endpoint.id === "string" && endpoint.id !== "", `${option}.id`, "a name", endpoint.id);
    need(isFirst, `${option}.id`, "different from the others", endpoint.id);
    if (endpoint.limits) {
      checkLimits(`${option}.limits`, { ...limits, ...endpoint.limits });
      const isSame = kinds(endpoint.limits).every((kind) => kinds(limits).includes(kind));
      need(isSame, `${option}.limits`, "limits of the kinds of `limits`", endpoint.limits);
    }
    if (endpoint.provider) checkProvider(`${option}.provider`, endpoint.provider, limits.windowMs ?? WINDOW_MS);
    if (endpoint.part !== undefined) amount(`${option}.part`, endpoint.part);
  });
}

function checkKeys({ keys, limits }: SimulationOptions): void {
  keys?.forEach(({ key, limits: own, part }, i) => {
    need(typeof key === "string" && key !== "", `keys[${i}].key`, "a name", key);
    if (own) checkLimits(`keys[${i}].limits`, own);
    const isSame = kinds(own ?? {}).every((kind) => kinds(limits).includes(kind));
    need(isSame, `keys[${i}].limits`, "limits of the kinds of `limits`", own);
    if (part !== undefined) amount(`keys[${i}].part`, part);
  });
}

function kinds({ requests, tokens }: Limits): string[] {
  return [requests === undefined ? [] : "requests", tokens === undefined ? [] : "tokens"].flat();
}

function checkStore({ aggregation, above: upper, below, latencyMs, timeoutMs }: StoreOptions): void {
  oneOf("store.aggregation", aggregation, AGGREGATIONS);
  if (upper !== undefined) above("store.above", upper);
  if (below !== undefined) amount("store.below", below);
  if (latencyMs) range("store.latencyMs", latencyMs);
  if (timeoutMs !== undefined) above("store.timeoutMs", timeoutMs);
}
