import type { Frame } from "../../wire.ts";
import { duration, plural } from "./format.ts";

/** One endpoint, and its usage as counted by the shared store. */
export interface Utilization {
  readonly name: string;
  /** Usage as a fraction of the limit. */
  readonly part: number;
  readonly text: string;
}

/** Undefined without a shared store. */
export function utilizations({ globalUsage }: Pick<Frame, "globalUsage">): readonly Utilization[] | undefined {
  return globalUsage?.map(({ endpoint, model, rpm, tpm, utilization, agents, ageMs }) => ({
    name: model === undefined ? endpoint : `${endpoint}/${model}`,
    part: utilization,
    text: `${plural(rpm, "request")} and ${plural(tpm, "token")} a minute by ${plural(agents, "agent")}, ${duration(ageMs)} ago`,
  }));
}
