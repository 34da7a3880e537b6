import { seededRandom } from "@hivepace/core/testing";
import type { SlotFault, SlotSwarmOptions } from "./slot-swarm.ts";

/** All faults end by this time, and callers start no new calls after it. */
const REST_MS = 60_000;
const DURATION_MS = 80_000;

/**
 * A swarm of 2 to 8 agents that share 1 to 8 slots, with a few random faults: crashes, restarts, goodbyes, bus outages,
 * disconnected agents, frozen processes. At the end all callers rest, so that every slot must become free.
 */
export function mixedSlotFaults(seed: number): SlotSwarmOptions {
  const random = seededRandom(seed * 2_654_435_761 + 29);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const between = (least: number, most: number): number => Math.floor(least + (most - least + 1) * random());
  const agents = between(2, 8);
  const few = (): number[] => Array.from({ length: between(1, Math.ceil(agents / 3)) }, () => between(0, agents - 1));
  const at = (): number => between(5_000, REST_MS - 25_000);
  const kinds: readonly (() => SlotFault[])[] = [
    () => [{ at: at(), type: pick(["crash", "leave"]), agents: few() }],
    () => {
      const [time, some] = [at(), few()];
      const end: SlotFault = { at: time, type: pick(["crash", "leave"]), agents: some };
      return [end, { at: time + between(500, 10_000), type: "join", agents: some }];
    },
    () => [{ at: at(), type: "freeze", agents: few(), forMs: between(500, 15_000) }],
    () => [{ at: at(), type: "cut", agents: few(), forMs: between(500, 20_000) }],
    () => [{ at: at(), type: "bus-down", forMs: between(500, 20_000) }],
  ];
  const faults = Array.from({ length: between(1, 4) }, () => pick(kinds)()).flat();
  return {
    seed,
    agents,
    slots: between(1, 8),
    callers: between(1, 3),
    callMs: pick([
      [200, 1_000],
      [500, 4_000],
    ]),
    leaseMs: 6_000,
    durationMs: DURATION_MS,
    measureFrom: 0,
    faults: [...faults.sort((a, b) => a.at - b.at), { type: "rest", at: REST_MS }],
  };
}
