import { expect, test } from "vitest";
import { checkOptions } from "./check-options.ts";
import { checkSwarm } from "./check-swarm.ts";
import { mixedFaults } from "./mixed-faults.ts";
import type { Fault, SimulationOptions } from "./options.ts";
import { swarmScenarios } from "./scenarios/index.ts";
import { realScenarios } from "./scenarios/real.ts";
import { simulateSwarm } from "./simulate-swarm.ts";

const right: SimulationOptions = { seed: 1, agents: 2, limits: { requests: 10 }, demand: { load: 1 }, duration: 1_000 };

function withFault(fault: object): Partial<SimulationOptions> {
  return { faults: [{ at: 0, type: "bus-down", forMs: 1 }, { at: 0, ...fault } as Fault] };
}

function withDemand(demand: object): Partial<SimulationOptions> {
  return { demand: { load: 1, ...demand } };
}

test.each<[option: string, wrong: object]>([
  ["seed", { seed: 0.5 }],
  ["agents", { agents: 0 }],
  ["duration", { duration: Infinity }],
  ["limits", { limits: undefined }],
  ["limits", { limits: {} }],
  ["limits.requests", { limits: { requests: -1 } }],
  ["limits.windowMs", { limits: { requests: 1, windowMs: 0 } }],
  ["demand", { demand: undefined }],
  ["demand.tokens", { limits: { tokens: 10 } }],
  ["demand.tokens", withDemand({ tokens: { from: 5, to: 2 } })],
  ["demand.tokens", withDemand({ tokens: 0 })],
  ["demand.tokens.median", withDemand({ tokens: { median: 0, sigma: 1, from: 1, to: 2 } })],
  ["demand.tokens.sigma", withDemand({ tokens: { median: 1, sigma: -1, from: 1, to: 2 } })],
  [
    "demand.tokens.rare.part",
    withDemand({ tokens: { median: 1, sigma: 1, from: 1, to: 2, rare: { part: 2, tokens: 1 } } }),
  ],
  [
    "demand.tokens.rare.tokens",
    withDemand({ tokens: { median: 1, sigma: 1, from: 1, to: 2, rare: { part: 0, tokens: 0 } } }),
  ],
  ["demand.tokens.actual", withDemand({ tokens: { median: 1, sigma: 1, from: 1, to: 2, actual: [2, 1] } })],
  ["demand.load", withDemand({ load: Number.NaN })],
  ["demand.skew", withDemand({ skew: -1 })],
  ["demand.skew[1]", withDemand({ skew: [1, -1] })],
  ["demand.bursts[0].at", withDemand({ bursts: [{ at: -1, load: 1 }] })],
  ["demand.bursts[0].load", withDemand({ bursts: [{ at: 0, load: -1 }] })],
  ["demand.bursts[0].agents[1]", withDemand({ bursts: [{ at: 0, load: 1, agents: [0, 2] }] })],
  ["demand.patienceMs", withDemand({ patienceMs: 0 })],
  ["demand.maxQueue", withDemand({ maxQueue: 0 })],
  ["demand.tryOnly[0]", withDemand({ tryOnly: [2] })],
  ["network.loss", { network: { loss: 1.1 } }],
  ["network.delayMs", { network: { delayMs: [2, 1] } }],
  ["network.slowMs", { network: { slowMs: [-1, 1] } }],
  ["provider.kind", { provider: { kind: "leaky" } }],
  ["provider.burst", { provider: { burst: 0 } }],
  ["provider.latencyMs", { provider: { latencyMs: [1, 0] } }],
  ["provider.retryAfterMs", { provider: { retryAfterMs: -1 } }],
  ["provider.callMs.median", { provider: { callMs: { median: 0, sigma: 1, from: 1, to: 2 } } }],
  ["provider.callMs", { provider: { callMs: { median: 1, sigma: 1, from: 3, to: 2 } } }],
  ["provider.countsTokens", { provider: { countsTokens: "never" } }],
  ["provider.subWindowMs", { provider: { subWindowMs: 60_000 } }],
  ["provider.countsRefused", { provider: { countsRefused: 1 } }],
  ["provider.maxInFlight", { provider: { maxInFlight: 0 } }],
  ["provider.failures.errors", { provider: { failures: { errors: 2 } } }],
  ["provider.failures", { provider: { failures: { errors: 0.6, overloads: 0.6 } } }],
  ["provider.failures.retryAfterMs", { provider: { failures: { retryAfterMs: -1 } } }],
  ["provider.quota", { provider: { quota: {} } }],
  ["provider.quota.used", { provider: { quota: { tokens: 1, used: 2 } } }],
  ["provider.headers", { provider: { headers: "yes" } }],
  ["demand.estimate", withDemand({ estimate: { bias: 1, spread: 0 } })],
  ["demand.estimate.bias", withDemand({ tokens: 5, estimate: { bias: 0, spread: 0 } })],
  ["demand.estimate.spread", withDemand({ tokens: 5, estimate: { bias: 1, spread: -1 } })],
  ["demand.route", withDemand({ route: "all" })],
  ["drive", { drive: "bus" }],
  ["limits", { drive: "limiter", limits: { requests: 1, tokens: 1 }, demand: { load: 1, tokens: 1 } }],
  ["limits.maxInFlightPerProcess", { limits: { requests: 1, maxInFlightPerProcess: 0.5 } }],
  ["limits.maxInFlightPerProcess", { drive: "limiter", limits: { requests: 1, maxInFlightPerProcess: 1 } }],
  ["tuning", { tuning: { quantum: 1 } }],
  ["endpoints", { endpoints: [] }],
  ["endpoints", { drive: "engine", endpoints: [{ id: "a" }] }],
  ["endpoints[0].id", { endpoints: [{ id: "" }] }],
  ["endpoints[1].id", { endpoints: [{ id: "a" }, { id: "a" }] }],
  ["endpoints[0].limits", { endpoints: [{ id: "a", limits: { tokens: 1 } }] }],
  ["endpoints[0].provider.burst", { endpoints: [{ id: "a", provider: { burst: 0 } }] }],
  ["endpoints[0].part", { endpoints: [{ id: "a", part: -1 }] }],
  ["keys", { drive: "limiter", keys: [{ key: "a" }] }],
  ["keys[0].key", { keys: [{ key: "" }] }],
  ["keys[0].limits", { keys: [{ key: "a", limits: { tokens: 1 } }] }],
  ["observers[0]", { observers: [2] }],
  ["scheme", { scheme: "best" }],
  ["isolation", { isolation: "brave" }],
  ["recovery", { recovery: "never" }],
  ["measureFrom", { measureFrom: 1_000 }],
  ["expectedAgents", { expectedAgents: 0 }],
  ["weights[1]", { weights: [1, 0] }],
  ["absent[0]", { absent: [-1] }],
  ["drift", { drift: 1 }],
  ["store.aggregation", { store: { aggregation: "bus" } }],
  ["store.above", { store: { aggregation: "auto", above: 0 } }],
  ["store.below", { store: { aggregation: "auto", below: -1 } }],
  ["store.latencyMs", { store: { aggregation: "auto", latencyMs: [3, 2] } }],
  ["store.timeoutMs", { store: { aggregation: "auto", timeoutMs: 0 } }],
  ["faults[1].at", withFault({ type: "bus-down", forMs: 1, at: -1 })],
  ["faults[1].type", withFault({ type: "earthquake" })],
  ["faults[1].type", withFault({ type: "store-flush" })],
  ["faults[1].agents[0]", withFault({ type: "crash", agents: [2] })],
  ["faults[1].forMs", withFault({ type: "cut", agents: [0], forMs: 0 })],
  ["faults[1].downMs", withFault({ type: "restart", agents: [0], downMs: -1 })],
  ["faults[1].groups[1][0]", withFault({ type: "split", groups: [[0], [2]], forMs: 1 })],
  ["faults[1].network.loss", withFault({ type: "network", network: { loss: 2 }, forMs: 1 })],
  ["faults[1].factor", withFault({ type: "provider", factor: -1, forMs: 1 })],
  ["faults[1].endpoints[0]", withFault({ type: "provider", factor: 1, forMs: 1, endpoints: ["other"] })],
  ["faults[1].retryAfterMs", withFault({ type: "refuse", agents: [0], retryAfterMs: -1 })],
  ["faults[1].limits", withFault({ type: "limits", limits: { requests: 1, tokens: 1 } })],
  ["faults[1].limits.requests", withFault({ type: "limits", limits: { requests: 0 } })],
  ["faults[1].part", { store: { aggregation: "store" }, ...withFault({ type: "store-errors", part: 2, forMs: 1 }) }],
  [
    "faults[1].staleMs",
    { store: { aggregation: "store" }, ...withFault({ type: "store-failover", staleMs: -1, forMs: 0 }) },
  ],
])("a wrong %s is named: %j", async (option, wrong) => {
  await expect(simulateSwarm({ ...right, ...wrong } as SimulationOptions)).rejects.toThrowError(
    expect.objectContaining({ code: "INVALID_CONFIG", option }),
  );
});

test("invalid options are errors before the run, and no finding of the run", async () => {
  await expect(checkSwarm({ ...right, agents: 0 }, () => undefined)).rejects.toThrowError(
    expect.objectContaining({ code: "INVALID_CONFIG", option: "agents" }),
  );
});

test("valid options are accepted", async () => {
  await simulateSwarm(right);
  const scenarios = [...Object.values(swarmScenarios), ...Object.values(realScenarios)].flat();
  for (const { name, options, mostAgents = 100 } of scenarios)
    for (const agents of [4, 10, 100].filter((size) => size <= Math.max(10, mostAgents)))
      expect(() => checkOptions({ seed: 1, agents, ...options(agents) }), name).not.toThrow();
  for (let seed = 1; seed <= 50; seed++) expect(() => checkOptions(mixedFaults(seed)), `seed ${seed}`).not.toThrow();
});
