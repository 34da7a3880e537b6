import type { Frame, ResourceFrame } from "../../wire.ts";
import { amount, duration, perWindow, plural, unitOf } from "./format.ts";

/** One endpoint and how full it is. */
export interface Utilization {
  readonly name: string;
  /** 1 is all of it; undefined where nothing is limited. */
  readonly part: number | undefined;
  readonly text: string;
}

/** From the store where there is one, else from what agents say; and which of the two it is. */
export function utilizations(frame: Frame): { source: "store" | "agents"; rows: readonly Utilization[] } {
  const { globalUsage } = frame;
  if (globalUsage === undefined) return { source: "agents", rows: frame.resources.map(heard) };
  return {
    source: "store",
    rows: globalUsage.map(({ endpoint, model, rpm, tpm, utilization, agents, ageMs }) => ({
      name: model === undefined ? endpoint : `${endpoint}/${model}`,
      part: utilization,
      text: `${plural(rpm, "request")} and ${plural(tpm, "token")} a minute by ${plural(agents, "agent")}, ${duration(ageMs)} ago`,
    })),
  };
}

/** The fullest of its limits, against what is allowed at full level. */
function heard({ resource, limits, windowMs, agents }: ResourceFrame): Utilization {
  const parts = limits.flatMap(({ limit, used }) => (limit === null || limit === 0 ? [] : [used / limit]));
  const uses = limits.map((limit) => `${amount(limit.used)} ${unitOf(limit)}`);
  return {
    name: resource,
    part: parts.length > 0 ? Math.max(...parts) : undefined,
    text: `${uses.join(" and ") || "nothing"} ${perWindow(windowMs)} by ${plural(agents.length, "agent")}`,
  };
}
