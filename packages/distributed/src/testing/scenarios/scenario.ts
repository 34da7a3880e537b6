import type { SimulationOptions } from "../options.ts";
import type { SwarmReport } from "../report.ts";

/** A measured figure and its bounds. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly least?: number | undefined;
  readonly most?: number | undefined;
}

/** A situation of a swarm of any size, and the figures that must hold. */
export interface Scenario {
  readonly name: string;
  readonly options: (agents: number) => Omit<SimulationOptions, "seed" | "agents"> & { readonly agents?: number };
  readonly figures: (report: SwarmReport, agents: number) => readonly Figure[];
  /** Largest swarm for which the scenario is useful and fast enough. @defaultValue unlimited */
  readonly mostAgents?: number | undefined;
}

export const SECOND = 1_000;
export const MINUTE = 60_000;

/** Duration of a steady run. Three windows show as much as ten, and large swarms are slow to simulate. */
export function steadyMs(agents: number): number {
  return (agents > 300 ? 3 : 10) * MINUTE;
}

/** One thousand requests a minute: the limit of scenarios that examine something else. */
export const thousand = { requests: 1_000 } as const;
/** An account of 100,000 tokens a minute. */
export const tokens = { tokens: 100_000 } as const;

/** The first agents: this fraction of all, and at least one. */
export function some(agents: number, part: number): number[] {
  return Array.from({ length: Math.max(1, Math.round(agents * part)) }, (_, i) => i);
}

export function all(agents: number): number[] {
  return some(agents, 1);
}

export function atMost(name: string, value: number, most: number): Figure {
  return { name, value, most };
}

export function atLeast(name: string, value: number, least: number): Figure {
  return { name, value, least };
}

/** Whether a figure is within its bounds. */
export function holds({ value, least = -Infinity, most = Infinity }: Figure): boolean {
  return value >= least && value <= most;
}

/** The figures that nearly all scenarios check: usage within the limit, and no refusal. */
export function within(report: SwarmReport, most = 1.02): Figure[] {
  return [atMost("max", report.max, most), ...(most <= 1.02 ? [atMost("refused", report.refused, 0)] : [])];
}
