import { bindingLimit, byPressure, type Condition, conditionOf, usedPart } from "../../pressure.ts";
import type { LimitFrame, Point, ResourceFrame } from "../../wire.ts";
import { amount, duration, limitText, percent, rateOf, unitOf } from "./format.ts";

/** An endpoint or a key in one line: its condition and its binding dimension. */
export interface OverviewRow {
  readonly name: string;
  readonly isKey: boolean;
  readonly condition: Condition;
  /** One word, because colour alone must not carry the meaning. */
  readonly word: string;
  /** Usage as a fraction of the current limit; undefined without a limit. */
  readonly part: number | undefined;
  readonly percent: string;
  /** Usage of the binding dimension. */
  readonly usage: string;
  readonly available: string;
  readonly level: number;
  readonly waiting: string;
  /** Index of the binding dimension. */
  readonly limit: number;
}

const WORDS: Readonly<Record<Condition, string>> = {
  paused: "Paused",
  queueing: "Queueing",
  reduced: "Reduced",
  full: "Full",
  fine: "Fine",
};

/** Returns the rows, the worst first. */
export const overviewOf = (resources: readonly ResourceFrame[]): readonly OverviewRow[] =>
  [...resources].sort(byPressure).map(rowOf);

function rowOf(resource: ResourceFrame): OverviewRow {
  const { limits, level, windowMs, pausedForMs } = resource;
  const limit = bindingLimit(limits);
  const binding = limits[limit];
  const condition = conditionOf(resource);
  const part = binding && usedPart(binding);
  const queued = binding && binding.waiting > 0 ? binding : limits.find((one) => one.waiting > 0);
  return {
    name: resource.resource,
    isKey: resource.isKey ?? false,
    condition,
    word: condition === "paused" ? `Paused for ${duration(pausedForMs)}` : WORDS[condition],
    part,
    percent: part === undefined ? limitText(null) : percent(part),
    usage: binding === undefined ? "no limit heard" : usageOf(binding, windowMs),
    available: binding?.total == null ? "" : `${amount(Math.max(0, binding.total - binding.used))} available`,
    level,
    waiting: queued === undefined ? "nobody waits" : waitingOf(queued),
    limit,
  };
}

/** The queue of a limit. Tokens are named, because a number alone reads as a number of calls. */
function waitingOf(limit: LimitFrame): string {
  const unit = limit.dimension === "requests" || limit.dimension === "inFlight" ? "" : ` ${unitOf(limit)}`;
  return `${amount(limit.waiting)}${unit} waiting`;
}

function usageOf(limit: LimitFrame, windowMs: number): string {
  const unit = rateOf(limit, windowMs);
  return limit.total === null
    ? `${amount(limit.used)} ${unit}`
    : `${amount(limit.used)} of ${amount(limit.total)} ${unit}`;
}

/** The history of an endpoint as values from 0 to 1: the usage of the limit without cuts, and the level. */
export interface Spark {
  readonly used: readonly (number | null)[];
  readonly level: readonly (number | null)[];
}

export function sparkOf(points: readonly Point[], resource: string, limit: number): Spark {
  const past = points.map((point) => point.resources.find((one) => one.resource === resource));
  return {
    used: past.map((one) => {
      const [whole, , used] = one?.limits[limit] ?? [null, null, 0];
      return whole === null || whole === 0 ? null : Math.min(1, used / whole);
    }),
    level: past.map((one) => (one === undefined ? null : Math.min(1, one.level))),
  };
}
