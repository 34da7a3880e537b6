import type { ReportedLevel } from "../../allocator.ts";
import { Heap, type HeapEntry } from "../../heap.ts";

/** The state of one agent in one quota. */
export interface AgentRow {
  readonly id: string;
  readonly incarnation: number;
  sequence: number;
  at: number;
  nextMs: number;
  weight: number;
  sent: readonly number[];
  back: readonly number[];
  allowed: number[];
  /** The part of `allowed` that replies may have told the agent. */
  told: readonly number[];
  /** The agent's usage of the last window as reported, and the amount it may go on using by itself. */
  used: readonly number[];
  fair: readonly number[];
  /**
   * The time at which the window counts the agent's calls in flight; undefined for a limit on the usage of a window.
   */
  heldAt: number | undefined;
  next: readonly number[];
  all: readonly number[];
  /** The agent's virtual time: its grants as a fraction of the limits, divided by its weight. */
  virtualTime: number;
  place: HeapEntry<QueuePlace> | undefined;
  state: "live" | "silent" | "left";
  /** The time at which the agent becomes silent, and then the time at which it is forgotten. */
  due: HeapEntry<AgentDeadline>;
}

interface QueuePlace {
  readonly virtualTime: number;
  readonly order: number;
  readonly row: AgentRow;
}

interface AgentDeadline {
  readonly at: number;
  readonly order: number;
  readonly row: AgentRow;
}

/** A reported level with times of the store's clock in place of ages. */
export type StoredLevel = Omit<ReportedLevel, "cutAgoMs" | "pausedAgoMs"> & {
  readonly cutAt: number;
  readonly pausedAt: number;
};

/** The state of one quota. */
export interface QuotaState {
  readonly windowMs: number;
  readonly rows: Map<string, AgentRow>;
  readonly line: Heap<QueuePlace>;
  readonly dues: Heap<AgentDeadline>;
  /** Number of calls. An agent that has received a higher number shows that this memory is not the latest. */
  stamp: number;
  at: number;
  /** The time by which at least one agent has promised to report. */
  expectBy: number;
  learnUntil: number;
  limits: number[];
  limitsAt: number;
  level: StoredLevel | undefined;
  /** Grants that are not reported as used. */
  readonly held: number[];
  members: number;
  weights: number;
  /**
   * The virtual time of the queue, which is that of the agent served last, and the time since which the queue has not
   * been empty.
   */
  virtualTime: number;
  lineSince: number | undefined;
  orders: number;
  /** The amounts by which all grants are ahead of a steady pace. */
  readonly ahead: number[];
  aheadAt: number;
  isStore: boolean;
}

export function newQuotaState(windowMs: number, limits: readonly number[]): QuotaState {
  return {
    windowMs,
    rows: new Map(),
    line: new Heap((a, b) => a.virtualTime < b.virtualTime || (a.virtualTime === b.virtualTime && a.order < b.order)),
    dues: new Heap((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order)),
    stamp: 0,
    at: -Infinity,
    expectBy: -Infinity,
    learnUntil: -Infinity,
    limits: [...limits],
    limitsAt: -Infinity,
    level: undefined,
    held: limits.map(() => 0),
    members: 0,
    weights: 0,
    virtualTime: 0,
    lineSince: undefined,
    orders: 0,
    ahead: limits.map(() => 0),
    aheadAt: -Infinity,
    isStore: false,
  };
}

/** Returns the grants that an agent has not reported as used. */
export function holdOf({ allowed, sent }: AgentRow): number[] {
  return allowed.map((amount, i) => Math.max(0, amount - at(sent, i)));
}

export const SLACK = 1e-6;

export function fits(amounts: readonly number[], available: readonly number[]): boolean {
  return amounts.every((amount, i) => amount <= at(available, i) + SLACK);
}

export function addTo(sum: number[], amounts: readonly number[], factor = 1): void {
  for (let i = 0; i < sum.length; i++) sum[i] = at(sum, i) + factor * at(amounts, i);
}

export function at(amounts: readonly number[], index: number): number {
  return amounts[index] ?? 0;
}
