import type { SwarmSnapshot } from "@hivepace/distributed";
import { clean } from "../text/clean.ts";
import { showDuration } from "../text/duration.ts";
import { isUnlimited } from "../text/numbers.ts";
import { HARMLESS, ignoredAdvice } from "./advice.ts";
import type { Findings } from "./findings.ts";
import type { Survey } from "./survey.ts";

/** Milliseconds of clock difference beyond which logs of two machines no longer fit together. */
export const CLOCK_SLACK_MS = 2_000;
/** The maximum number of agents named in one line. */
const NAMED = 8;

export interface Expected {
  readonly agents: number;
  readonly namespace: string;
  /** Other namespaces on the same broker with subscribers, where the broker can list them. */
  readonly elsewhere: readonly string[];
}

/** Compares the number of agents found with the expected number. */
export function checkAgents(
  findings: Findings,
  { agents, members, observedMs }: SwarmSnapshot,
  expected: Expected,
): void {
  const live = agents.filter(({ state }) => state === "live").map(({ agentId }) => clean(agentId));
  const count = Math.max(live.length, members);
  const names = live.slice(0, NAMED).join(", ") + (live.length > NAMED ? ", …" : "");
  const heard =
    live.length === 0
      ? `no agent was heard in ${showDuration(observedMs)}`
      : `${count} ${count === 1 ? "agent" : "agents"}: ${names}`;
  if (count >= expected.agents) findings.ok("agents", heard);
  else if (live.length > 0)
    findings.bad(
      "agents",
      `${heard}; ${expected.agents} expected`,
      "check whether the others use another broker or another namespace",
    );
  else findings.bad("agents", heard, nobodyAdvice(expected));
  for (const { agentId, state, lastMessageAgoMs } of agents)
    if (state === "silent")
      findings.note(
        "agents",
        `${clean(agentId)} has been silent for ${showDuration(lastMessageAgoMs)}`,
        "check whether it crashed or lost its broker",
      );
}

function nobodyAdvice({ namespace, elsewhere }: Expected): string {
  if (elsewhere.length > 0) {
    const others = elsewhere.slice(0, NAMED).map((name) => (name === "" ? '""' : clean(name)));
    return `agents listen in other namespaces on this broker: --namespace ${others.join(", or ")}`;
  }
  const unnamed = namespace === "" ? "" : ' (--namespace "" for limiters without one)';
  return `check that an agent runs, on this broker, in this namespace${unnamed}. Before the first agent starts, pass --expect 0`;
}

/** Reports messages that were received and not understood. */
export function checkIgnored(findings: Findings, { ignored, received }: SwarmSnapshot): void {
  const reasons = Object.entries(ignored).filter(([reason]) => !HARMLESS.includes(reason));
  if (reasons.length === 0) {
    if (received > 0) findings.ok("messages", `${received} received, all understood`);
    return;
  }
  for (const [reason, count] of reasons)
    findings.bad("messages", `${count} ignored: ${clean(reason)}`, ignoredAdvice(reason));
}

const FEW = 3;
const namesOf = (agents: readonly string[]): string =>
  agents
    .slice(0, FEW)
    .map((agent) => clean(agent))
    .join(", ") + (agents.length > FEW ? ", …" : "");

/** Reports disagreements between agents. */
export function checkSurvey(findings: Findings, { differences, twins, lookalikes }: Survey, isAnyone: boolean): void {
  for (const { resource, groups } of differences) {
    const sides = groups.map(({ limits, windowMs, agents }) => {
      return `${limits.map((limit) => (isUnlimited(limit) ? "no limit" : limit)).join("/")} in ${showDuration(windowMs)} at ${namesOf(agents)}`;
    });
    findings.bad(
      "limits",
      `${clean(resource)}: ${sides.join("; ")}`,
      "configure all agents alike: the smallest limit applies to all",
    );
  }
  for (const { names, isSame } of lookalikes) {
    const sides = names.map(({ resource, agents }) => `${clean(resource)} at ${namesOf(agents)}`);
    const advice = "endpoints with different ids do not share a limit: if both are one account, give it one id";
    if (isSame) findings.bad("endpoints", `one endpoint, two ids? ${sides.join("; ")}`, advice);
    else findings.note("endpoints", `similar ids: ${sides.join("; ")}`, advice);
  }
  for (const agent of twins)
    findings.bad(
      "names",
      `two processes use the name ${clean(agent)}`,
      "give each its own agentId, or set AGENT_ID for each",
    );
  if (isAnyone && differences.length === 0 && twins.length === 0)
    findings.ok(
      "limits",
      "all agents have the same limits for the endpoints in use; agents announce no others, so unused ids and limits are not compared",
    );
}

/** Reports a clock that is off. `aheadMs`: by how much this machine's clock was ahead of each received timestamp. */
export function checkTimestamps(findings: Findings, aheadMs: readonly number[]): void {
  const worst = aheadMs.reduce((most, ahead) => (Math.abs(ahead) > Math.abs(most) ? ahead : most), 0);
  if (aheadMs.length === 0) return;
  const text = `announcements were ${showDuration(Math.abs(worst))} ${worst < 0 ? "ahead of" : "behind"} this machine's clock`;
  if (Math.abs(worst) <= CLOCK_SLACK_MS) findings.ok("clocks", text);
  else findings.note("clocks", text, "limits do not depend on it, but logs are hard to compare: check NTP");
}
