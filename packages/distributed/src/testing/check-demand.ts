import { need } from "@hivepace/core/internal";
import type { CostModel } from "./costs.ts";
import { above, amount, checkAgents, oneOf, part, range } from "./option-rules.ts";
import type { Burst, Demand, Limits } from "./options.ts";

export function checkDemand(demand: Demand, limits: Limits, agents: number): void {
  const { load, skew = 1, tokens, bursts = [], patienceMs, maxQueue, tryOnly, estimate, route } = demand;
  if (typeof load !== "function") amount("demand.load", load);
  if (typeof skew === "number") amount("demand.skew", skew);
  else if (typeof skew !== "function")
    skew.forEach((part, i) => {
      amount(`demand.skew[${i}]`, part);
    });
  if (limits.tokens !== undefined)
    need(tokens !== undefined, "demand.tokens", "given when tokens are limited", undefined);
  if (tokens !== undefined) checkCost(tokens);
  if (estimate) {
    need(tokens !== undefined, "demand.estimate", "given only with tokens", estimate);
    above("demand.estimate.bias", estimate.bias);
    amount("demand.estimate.spread", estimate.spread);
  }
  if (route !== undefined) oneOf("demand.route", route, ["any", "one"]);
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
