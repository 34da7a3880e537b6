import { type Plan, speedUp } from "../plan.ts";
import type { ScenarioName } from "../scenarios.ts";
import { duration, percent, whole } from "./text.ts";

/** What one is about to see, and what is not as in real life. */
export function introduction(
  plan: Plan,
  name: ScenarioName,
  { name: bus, hosts }: { readonly name: string; readonly hosts: "thread" | "process" },
): string[] {
  const { scenario, agents, rpm, tpm, windowMs, margin, recoveryIntervalMs } = plan;
  const isTogether = scenario.pacing === "hive";
  const where = isTogether ? ` (${hosts === "thread" ? "threads" : "processes"}, bus: ${bus})` : "";
  const lines = [
    `Hivepace demo, scenario ${name}: ${scenario.about}.`,
    `${agents} agents${where} share one account: ${whole(rpm)} requests and ${whole(tpm)} tokens a minute, enforced strictly.`,
    `A minute lasts ${duration(windowMs)} here, so that it can be seen; the run takes ${duration(plan.durationMs)}.`,
  ];
  if (!isTogether) return lines;
  const faster = Math.round(speedUp(plan));
  return [
    ...lines,
    `After a cut the swarm goes up by 10 % every ${duration(recoveryIntervalMs)}, ${faster} times as often as by default.`,
    `The agents are told ${percent(margin)} of the limit: a request takes its time on the way, and not always the same.`,
  ];
}
