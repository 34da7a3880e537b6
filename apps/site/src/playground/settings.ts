import type { Fault, Scheme, SimulationOptions } from "@hivepace/distributed/testing";

const MINUTE = 60_000;
export const DURATION_MS = 10 * MINUTE;
/** Time of the fault. */
const FAULT_AT_MS = 4 * MINUTE;

/** The reader's settings. Plain data, because they are sent to a worker. */
export interface Settings {
  readonly agents: number;
  /** Requests per minute of the account. */
  readonly limit: number;
  /** Total demand of all agents, as a multiple of the limit. */
  readonly load: number;
  /** Percentage of lost messages. */
  readonly loss: number;
  readonly fault: FaultName;
  readonly against: Against;
  readonly seed: number;
}

export const DEFAULTS: Settings = {
  agents: 20,
  limit: 600,
  load: 1.5,
  loss: 5,
  fault: "provider",
  against: "equal-split",
  seed: 1,
};

/** Bounds of the sliders, with steps that a reader can hit. */
export const SLIDERS = [
  { name: "agents", label: "Agents", min: 1, max: 100, step: 1, unit: "" },
  { name: "limit", label: "Limit of the account", min: 60, max: 3_000, step: 60, unit: " requests / min" },
  { name: "load", label: "Demand", min: 0.2, max: 4, step: 0.1, unit: " × the limit" },
  { name: "loss", label: "Lost messages", min: 0, max: 50, step: 5, unit: " %" },
  { name: "seed", label: "Seed", min: 1, max: 20, step: 1, unit: "" },
] as const satisfies readonly Slider[];

interface Slider {
  readonly name: keyof Settings;
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly unit: string;
}

export const FAULTS = {
  none: "none",
  provider: "the provider allows only 60 % for two minutes",
  bus: "the broker is away for two minutes",
  crash: "a third of the agents crash",
  split: "the broker is partitioned into halves for a minute",
  freeze: "a third of the processes stand still for 30 s",
} as const;
type FaultName = keyof typeof FAULTS;

export const AGAINST = {
  "equal-split": "an equal split of the limit",
  naive: "every agent has the whole limit",
  gossip: "gossiped usage",
  none: "nothing",
} as const;
type Against = keyof typeof AGAINST;

/** The simulation of Hivepace, or of another scheme under the same load and faults. */
export function optionsOf(settings: Settings, scheme: Scheme): SimulationOptions {
  const { agents, limit, load, loss, seed } = settings;
  return {
    seed,
    agents,
    limits: { requests: limit },
    demand: { load, patienceMs: 30_000 },
    network: { loss: loss / 100 },
    faults: faultsOf(settings),
    duration: DURATION_MS,
    scheme,
    drive: "engine",
    // The default of a hive.
    recovery: "measured",
  };
}

function faultsOf({ fault, agents }: Settings): readonly Fault[] {
  const at = FAULT_AT_MS;
  const all = Array.from({ length: agents }, (_, i) => i);
  const third = all.filter((i) => i % 3 === 0 && agents > 1);
  switch (fault) {
    case "none":
      return [];
    case "provider":
      return [{ at, type: "provider", factor: 0.6, forMs: 2 * MINUTE }];
    case "bus":
      return [{ at, type: "bus-down", forMs: 2 * MINUTE }];
    case "crash":
      return third.length > 0 ? [{ at, type: "crash", agents: third }] : [];
    case "split":
      return agents > 1
        ? [
            {
              at,
              type: "split",
              groups: [all.filter((i) => i % 2 === 0), all.filter((i) => i % 2 === 1)],
              forMs: MINUTE,
            },
          ]
        : [];
    case "freeze":
      return third.length > 0 ? [{ at, type: "freeze", agents: third, forMs: 30_000 }] : [];
  }
}
