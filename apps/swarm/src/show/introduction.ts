import { TASK_CALLS } from "../demand.ts";
import type { Plan } from "../plan.ts";
import { BUCKET_NOTE } from "../rows.ts";
import type { ScenarioName } from "../scenarios.ts";
import { duration, percent, whole } from "./text.ts";

/** Describes the run and how it differs from production, in lines of at most 80 characters. */
export function introduction(
  plan: Plan,
  name: ScenarioName,
  { name: bus, hosts }: { readonly name: string; readonly hosts: "thread" | "process" },
  isCompared: boolean,
): string[] {
  const { scenario, agents, rpm, tpm, windowMs, margin, durationMs, speed } = plan;
  const where = `${hosts === "thread" ? "threads" : "processes"}, bus: ${bus}`;
  return [
    `Hivepace demo, scenario ${name}:`,
    `${scenario.about}.`,
    "",
    `${agents} agents (${where}) share one account with a strict limit:`,
    `${whole(rpm)} requests and ${whole(tpm)} tokens a minute; refused requests count, too.`,
    `Each works through tasks of ${TASK_CALLS} calls. Limiters are told ${percent(margin)} of the limit.`,
    `Time runs ${Math.round(speed)} times as fast: a minute takes ${duration(windowMs / speed)}, all of it ${duration(durationMs / speed)}.`,
    ...(isCompared ? ["All rows get the same load and the same events at the same time.", BUCKET_NOTE] : []),
  ];
}
