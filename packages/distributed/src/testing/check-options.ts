import { InvalidConfigError } from "@hivepace/core";
import { KEPT } from "../engine/silence.ts";
import type { CostModel } from "./costs.ts";
import type {
  Burst,
  Demand,
  Fault,
  Limits,
  NetworkOptions,
  ProviderOptions,
  Scheme,
  SimulationOptions,
  StoreOptions,
} from "./options.ts";

const SCHEMES: readonly Scheme[] = ["hive", "naive", "equal-split", "gossip", "drop-ratio"];
const PROVIDERS: readonly ProviderOptions["kind"][] = ["sliding", "fixed", "bucket"];
const AGGREGATIONS: readonly StoreOptions["aggregation"][] = ["store", "auto"];

/** Throws INVALID_CONFIG, which names the option, the rule and the value, before anything has begun. */
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
  if (options.provider) checkProvider(options.provider);
  if (options.store) checkStore(options.store);
  oneOf("scheme", options.scheme ?? "hive", SCHEMES);
  oneOf("isolation", options.isolation ?? "safe", Object.keys(KEPT));
  const isWithin = measureFrom === undefined || (isAmount(measureFrom) && measureFrom < duration);
  need(isWithin, "measureFrom", "a time from 0 on, before the end", measureFrom);
  if (expectedAgents !== undefined) whole("expectedAgents", expectedAgents);
  weights.forEach((weight, i) => {
    above(`weights[${i}]`, weight);
  });
  if (options.absent) checkAgents("absent", options.absent, agents);
  if (drift !== undefined) need(isAmount(drift) && drift < 1, "drift", "a number from 0 on, below 1", drift);
  options.faults?.forEach((fault, i) => {
    checkFault(`faults[${i}]`, fault, options);
  });
}

function checkLimits(option: string, limits: Limits): void {
  const { requests, tokens, windowMs } = limits;
  need(requests !== undefined || tokens !== undefined, option, "one of requests and tokens at least", limits);
  for (const [name, limit] of Object.entries({ requests, tokens, windowMs }))
    if (limit !== undefined) above(`${option}.${name}`, limit);
}

function checkDemand(demand: Demand, limits: Limits, agents: number): void {
  const { load, skew = 1, tokens, bursts = [], patienceMs, maxQueue, tryOnly } = demand;
  if (typeof load !== "function") amount("demand.load", load);
  if (typeof skew === "number") amount("demand.skew", skew);
  else if (typeof skew !== "function")
    skew.forEach((part, i) => {
      amount(`demand.skew[${i}]`, part);
    });
  if (limits.tokens !== undefined)
    need(tokens !== undefined, "demand.tokens", "given when tokens are limited", undefined);
  if (tokens !== undefined) checkCost(tokens);
  bursts.forEach(({ at, load: size, agents: to }: Burst, i) => {
    amount(`demand.bursts[${i}].at`, at);
    amount(`demand.bursts[${i}].load`, size);
    if (to) checkAgents(`demand.bursts[${i}].agents`, to, agents);
  });
  if (patienceMs !== undefined) above("demand.patienceMs", patienceMs);
  if (maxQueue !== undefined) need(maxQueue >= 1, "demand.maxQueue", "a number from 1 on", maxQueue);
  if (tryOnly) checkAgents("demand.tryOnly", tryOnly, agents);
}

function checkCost(tokens: CostModel): void {
  const option = "demand.tokens";
  if (typeof tokens === "number") {
    above(option, tokens);
    return;
  }
  range(option, [tokens.from, tokens.to]);
  if (!("median" in tokens)) return;
  const { median, sigma, rare, actual } = tokens;
  above(`${option}.median`, median);
  amount(`${option}.sigma`, sigma);
  if (rare) {
    part(`${option}.rare.part`, rare.part);
    above(`${option}.rare.tokens`, rare.tokens);
  }
  if (actual) range(`${option}.actual`, actual);
}

function checkNetwork(option: string, { delayMs, slowMs, ...parts }: Partial<NetworkOptions>): void {
  for (const [name, value] of Object.entries(parts)) if (value !== undefined) part(`${option}.${name}`, value);
  if (delayMs) range(`${option}.delayMs`, delayMs);
  if (slowMs) range(`${option}.slowMs`, slowMs);
}

function checkProvider({ kind, burst, latencyMs, retryAfterMs }: Partial<ProviderOptions>): void {
  if (kind !== undefined) oneOf("provider.kind", kind, PROVIDERS);
  if (burst !== undefined) above("provider.burst", burst);
  if (latencyMs) range("provider.latencyMs", latencyMs);
  if (retryAfterMs !== undefined) amount("provider.retryAfterMs", retryAfterMs);
}

function checkStore({ aggregation, above: upper, below, latencyMs, timeoutMs }: StoreOptions): void {
  oneOf("store.aggregation", aggregation, AGGREGATIONS);
  if (upper !== undefined) above("store.above", upper);
  if (below !== undefined) amount("store.below", below);
  if (latencyMs) range("store.latencyMs", latencyMs);
  if (timeoutMs !== undefined) above("store.timeoutMs", timeoutMs);
}

function checkFault(option: string, fault: Fault, { agents, limits, store }: SimulationOptions): void {
  amount(`${option}.at`, fault.at);
  if ("agents" in fault && fault.agents) checkAgents(`${option}.agents`, fault.agents, agents);
  if ("forMs" in fault) need(fault.forMs > 0 || fault.type === "store-failover", `${option}.forMs`, ABOVE, fault.forMs);
  switch (fault.type) {
    case "crash":
    case "leave":
    case "join":
    case "cut":
    case "deafen":
    case "mute":
    case "freeze":
    case "bus-down":
    case "inject":
      break;
    case "restart":
      amount(`${option}.downMs`, fault.downMs);
      break;
    case "split":
      fault.groups.forEach((group, i) => {
        checkAgents(`${option}.groups[${i}]`, group, agents);
      });
      break;
    case "network":
      checkNetwork(`${option}.network`, fault.network);
      break;
    case "provider":
      amount(`${option}.factor`, fault.factor);
      break;
    case "refuse":
      if (fault.retryAfterMs !== undefined) amount(`${option}.retryAfterMs`, fault.retryAfterMs);
      break;
    case "limits":
      checkLimits(`${option}.limits`, fault.limits);
      need(
        kindsOf(fault.limits) === kindsOf(limits),
        `${option}.limits`,
        "limits of the same things as at first",
        fault.limits,
      );
      break;
    case "store-down":
    case "store-stall":
    case "store-flush":
    case "store-errors":
    case "store-failover":
      need(store !== undefined, `${option}.type`, "one that needs no store, where there is none", fault.type);
      if (fault.type === "store-errors") part(`${option}.part`, fault.part);
      if (fault.type === "store-failover") amount(`${option}.staleMs`, fault.staleMs);
      break;
    default:
      need(false, `${option}.type`, "the name of a fault", (fault as { type: unknown }).type);
  }
}

function kindsOf({ requests, tokens }: Limits): string {
  return `${requests !== undefined} ${tokens !== undefined}`;
}

function checkAgents(option: string, some: readonly number[], agents: number): void {
  some.forEach((agent, i) => {
    const isOne = Number.isSafeInteger(agent) && agent >= 0 && agent < agents;
    need(isOne, `${option}[${i}]`, `an agent, a whole number from 0 to ${agents - 1}`, agent);
  });
}

const ABOVE = "a number above 0";

function above(option: string, value: number): void {
  need(isAmount(value) && value > 0, option, ABOVE, value);
}

function amount(option: string, value: number): void {
  need(isAmount(value), option, "a number from 0 on", value);
}

function part(option: string, value: number): void {
  need(isAmount(value) && value <= 1, option, "a number from 0 to 1", value);
}

function range(option: string, [from, to]: readonly [number, number]): void {
  need(isAmount(from) && isAmount(to) && from <= to, option, "two numbers from 0 on, the smaller one first", [
    from,
    to,
  ]);
}

function whole(option: string, value: number): void {
  need(Number.isSafeInteger(value) && value >= 1, option, "a whole number from 1 on", value);
}

function oneOf(option: string, value: string, names: readonly string[]): void {
  need(names.includes(value), option, `one of ${names.join(", ")}`, value);
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function need(isRight: boolean, option: string, rule: string, value: unknown): void {
  if (!isRight) throw new InvalidConfigError(option, rule, value);
}
