import { pointsOf } from "../../point.ts";
import type { Frame, ResourceFrame } from "../../wire.ts";
import { amount, duration, limitText, NOTHING, percent, plural, rateOf } from "./format.ts";

/** One of the large figures at the top. */
export interface Figure {
  readonly label: string;
  readonly value: string;
  readonly unit?: string;
  readonly about: string;
  readonly tone?: "good" | "warn" | "bad";
}

export function figuresOf(frame: Frame, resource: ResourceFrame | undefined, limit: number): readonly Figure[] {
  const figures = [agentsOf(frame), admittedOf(resource, limit), levelOf(resource), waitingOf(frame, resource, limit)];
  return frame.provider === undefined ? figures : [...figures, refusedOf(frame.provider)];
}

function agentsOf({ members, agents }: Frame): Figure {
  const silent = agents.filter(({ state }) => state === "silent").length;
  const left = agents.filter(({ state }) => state === "left").length;
  const gone = [silent > 0 ? `${amount(silent)} silent` : "", left > 0 ? `${amount(left)} left` : ""].filter(Boolean);
  return {
    label: "Agents",
    value: amount(members),
    about: gone.join(", ") || (members === 0 ? "nobody heard yet" : "all of them heard"),
    ...(silent > 0 && { tone: "warn" as const }),
  };
}

function admittedOf(resource: ResourceFrame | undefined, index: number): Figure {
  const limit = resource?.limits[index];
  if (resource === undefined || limit === undefined)
    return { label: "Admitted", value: NOTHING, about: "no limit heard" };
  const unit = rateOf(limit, resource.windowMs);
  const about = limit.total === null ? `${unit}, ${limitText(null)}` : `of ${amount(limit.total)} ${unit}`;
  return { label: "Admitted", value: amount(limit.used), about };
}

function levelOf(resource: ResourceFrame | undefined): Figure {
  if (resource === undefined) return { label: "Level", value: NOTHING, about: "no limit heard" };
  const { level, pausedForMs, risesInMs } = resource;
  const rises = risesInMs === undefined ? "recovers" : `rises in ${duration(risesInMs)}`;
  if (pausedForMs > 0)
    return { label: "Level", value: percent(level), about: `all pause for ${duration(pausedForMs)}`, tone: "bad" };
  if (level >= 1) return { label: "Level", value: percent(level), about: "the whole limit", tone: "good" };
  return { label: "Level", value: percent(level), about: `of the limit, ${rises}`, tone: "warn" };
}

function waitingOf(frame: Frame, resource: ResourceFrame | undefined, index: number): Figure {
  const limit = resource?.limits[index];
  const waiting = limit?.waiting ?? 0;
  if (waiting === 0) return { label: "Waiting", value: "0", about: "nobody waits" };
  const longest = pointsOf(frame, resource === undefined ? [] : [resource])[0]?.limits[index]?.[4] ?? 0;
  return { label: "Waiting", value: amount(waiting), about: `up to about ${duration(longest)}` };
}

function refusedOf({ accepted, rejected429 }: NonNullable<Frame["provider"]>): Figure {
  return {
    label: "429s",
    value: amount(rejected429),
    about: `${plural(accepted, "request")} accepted`,
    tone: rejected429 > 0 ? "bad" : "good",
  };
}
