import type { SwarmSnapshot } from "@hivepace/distributed";
import { clean } from "../text/clean.ts";
import { showDuration } from "../text/duration.ts";
import { HARMLESS, ignoredAdvice } from "./advice.ts";
import type { Findings } from "./findings.ts";
import type { Survey } from "./survey.ts";

/** More than this and the logs of two machines no longer fit together. */
export const CLOCK_SLACK_MS = 2_000;
const NAMED = 8;

export interface Expected {
  readonly agents: number;
  readonly namespace: string;
  /** Other namespaces on the same broker in which somebody listens, where that can be known. */
  readonly elsewhere: readonly string[];
}

/** Who is there, and is it who should be? */
export function checkAgents(
  findings: Findings,
  { agents, members, observedMs }: SwarmSnapshot,
  expected: Expected,
): void {
  const live = agents.filter(({ state }) => state === "live").map(({ agentId }) => clean(agentId));
  const count = Math.max(live.length, members);
  const names = live.slice(0, NAMED).join(", ") + (live.length > NAMED ? ", …" : "");
  const heard = live.length === 0 ? `nobody was heard in ${showDuration(observedMs)}` : `${count} there: ${names}`;
  if (count >= expected.agents) findings.ok("agents", heard);
  else if (live.length > 0)
    findings.bad(
      "agents",
      `${heard}; ${expected.agents} expected`,
      "are the others at another broker, or in another namespace?",
    );
  else findings.bad("agents", heard, nobodyAdvice(expected));
  for (const { agentId, state, heardAgoMs } of agents)
    if (state === "silent")
      findings.note(
        "agents",
        `${clean(agentId)} has been silent for ${showDuration(heardAgoMs)}`,
        "did it crash, or lose the broker?",
      );
}

function nobodyAdvice({ namespace, elsewhere }: Expected): string {
  if (elsewhere.length > 0) {
    const others = elsewhere.slice(0, NAMED).map((name) => (name === "" ? '""' : clean(name)));
    return `agents listen in other namespaces on this broker: --namespace ${others.join(", or ")}`;
  }
  const unnamed = namespace === "" ? "" : ' (--namespace "" for limiters without one)';
  return `does an agent run, at this broker, in this namespace${unnamed}? Before one does: --expect 0`;
}

/** What was heard and not understood. */
export function checkIgnored(findings: Findings, { ignored, heard }: SwarmSnapshot): void {
  const reasons = Object.entries(ignored).filter(([reason]) => !HARMLESS.includes(reason));
  if (reasons.length === 0) {
    if (heard > 0) findings.ok("messages", `${heard} heard, all understood`);
    return;
  }
  for (const [reason, count] of reasons)
    findings.bad("messages", `${count} ignored: ${clean(reason)}`, ignoredAdvice(reason));
}

/** What agents disagree on among themselves. */
export function checkSurvey(findings: Findings, { differences, twins }: Survey, isAnyone: boolean): void {
  for (const { resource, groups } of differences) {
    const sides = groups.map(({ limits, windowMs, agents }) => {
      const who = agents.slice(0, 3).map((agent) => clean(agent));
      return `${limits.map((limit) => (limit >= 1e15 ? "∞" : limit)).join("/")} in ${showDuration(windowMs)} at ${who.join(", ")}${agents.length > 3 ? ", …" : ""}`;
    });
    findings.bad(
      "limits",
      `${clean(resource)}: ${sides.join("; ")}`,
      "configure all agents alike: the smallest counts for all",
    );
  }
  for (const agent of twins)
    findings.bad("names", `two processes are ${clean(agent)}`, "give each an agentId of its own, or leave it out");
  if (isAnyone && differences.length === 0 && twins.length === 0) findings.ok("limits", "all agents have the same");
}

/** `aheadMs`: by how much this machine's clock was ahead of the timestamps that were heard. */
export function checkTimestamps(findings: Findings, aheadMs: readonly number[]): void {
  const worst = aheadMs.reduce((most, ahead) => (Math.abs(ahead) > Math.abs(most) ? ahead : most), 0);
  if (aheadMs.length === 0) return;
  const text = `announcements were ${showDuration(Math.abs(worst))} ${worst < 0 ? "ahead of" : "behind"} this machine's clock`;
  if (Math.abs(worst) <= CLOCK_SLACK_MS) findings.ok("clocks", text);
  else findings.note("clocks", text, "nothing is computed from these, but logs will not fit together: check NTP");
}
