import type { SimulationOptions } from "../options.ts";
import type { SwarmReport } from "../recorder.ts";

/** A number that a run came to, and what it must be. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly least?: number | undefined;
  readonly most?: number | undefined;
}

/** Something that happens to a swarm, at any size, and what must hold then. */
export interface Scenario {
  readonly name: string;
  readonly options: (agents: number) => Omit<SimulationOptions, "seed" | "agents"> & { readonly agents?: number };
  readonly figures: (report: SwarmReport, agents: number) => readonly Figure[];
  /** It makes no sense, or takes too long, with more agents than this. */
  readonly mostAgents?: number | undefined;
}

export const SECOND = 1_000;
export const MINUTE = 60_000;

/** Three windows show what ten would: in a crowd each second of them takes long. */
export function steadyMs(agents: number): number {
  return (agents > 300 ? 3 : 10) * MINUTE;
}

/** A thousand requests a minute, as every scenario has that is about something else. */
export const thousand = { requests: 1_000 } as const;
/** An account of 100,000 tokens a minute. */
export const tokens = { tokens: 100_000 } as const;

/** The first of all agents: this part of them, but one at least. */
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

/** Those that nearly all scenarios ask for: within the limit, and nothing refused. */
export function within(report: SwarmReport, most = 1.02): Figure[] {
  return [atMost("max", report.max, most), ...(most <= 1.02 ? [atMost("refused", report.refused, 0)] : [])];
}
