import { seededRandom } from "@hivepace/core/testing";
import { typicalTokens } from "./costs.ts";
import type { Fault, SimulationOptions } from "./options.ts";

const MINUTE = 60_000;

/**
 * A swarm of 3 to 12 agents with a few random faults: crashes, restarts, goodbyes, bus outages, partitions, frozen
 * processes, a worse network, a provider with less capacity, changed limits.
 */
export function mixedFaults(seed: number, minutes = 6): SimulationOptions {
  const random = seededRandom(seed * 2_654_435_761 + 17);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const between = (least: number, most: number): number => Math.floor(least + (most - least + 1) * random());
  const agents = between(3, 12);
  const few = (first = 0): number[] =>
    Array.from({ length: between(1, Math.ceil(agents / 3)) }, () => between(first, agents - 1));
  // The first agent always stays: if all agents left at once, no agent would remember the usage.
  const leavers = (): number[] => few(1);
  const end = minutes * MINUTE;
  const at = (): number => between(MINUTE / 2, end - MINUTE);
  const kinds: readonly (() => Fault)[] = [
    () => ({ at: at(), type: "crash", agents: leavers() }),
    () => ({ at: at(), type: "leave", agents: leavers() }),
    () => ({ at: at(), type: "join", agents: few() }),
    () => ({ at: at(), type: "restart", agents: leavers(), downMs: between(500, 20_000), graceful: random() < 0.5 }),
    () => ({ at: at(), type: pick(["cut", "deafen", "mute"]), agents: few(), forMs: between(1_000, 90_000) }),
    () => ({ at: at(), type: "bus-down", forMs: between(500, 90_000) }),
    () => ({
      at: at(),
      type: "network",
      network: { loss: random() * 0.3, duplicates: 0.1 },
      forMs: between(5_000, 60_000),
    }),
    () => ({ at: at(), type: "freeze", agents: few(), forMs: between(500, 40_000) }),
    () => ({ at: at(), type: "provider", factor: random(), forMs: between(5_000, 60_000) }),
    () => ({ at: at(), type: "refuse", agents: few(), retryAfterMs: pick([0, 1_000, 20_000]) }),
  ];
  const hasTokens = random() < 0.5;
  return {
    seed,
    agents,
    limits: hasTokens ? { requests: between(50, 500), tokens: 100_000 } : { requests: pick([20, 100, 1_000, 5_000]) },
    demand: {
      load: pick([0.3, 0.9, 1.5, 3]),
      skew: pick([0, 1]),
      tokens: hasTokens ? typicalTokens : undefined,
      patienceMs: pick([undefined, 20_000]),
      tryOnly: random() < 0.3 ? few() : undefined,
    },
    provider: { kind: pick(["sliding", "fixed", "bucket"]), latencyMs: [50, 3_000] },
    isolation: pick(["safe", "balanced"]),
    weights: random() < 0.3 ? Array.from({ length: agents }, () => between(1, 4)) : undefined,
    faults: Array.from({ length: between(1, Math.max(6, minutes)) }, () => pick(kinds)()).sort((a, b) => a.at - b.at),
    duration: end,
  };
}
