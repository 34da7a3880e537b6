import type { Message } from "../../engine/index.ts";
import type { Fault } from "../options.ts";
import { useBetween } from "../recorder.ts";
import { all, atLeast, atMost, MINUTE, type Scenario, SECOND, some, thousand, within } from "./scenario.ts";

const busy = { load: 3 } as const;
/** All agents have the same demand. */
const even = { load: 3, skew: 0 } as const;

/** A forged message: every field is valid, and the claim exceeds the limit. */
function liar(seq: number, members: number): Message {
  const claim = { amounts: [1e9], next: [1e9], virtualTime: 0, tie: 0, waitedMs: 60_000 };
  const nothing = { spentTotal: [0], refundedTotal: [0], refundAgeMs: 0, used: [0], bins: [], demand: [1e9] };
  const quota = { name: "provider", windowMs: MINUTE, limits: [1_000], ...nothing, claim, virtualTime: 0 };
  return {
    id: "liar",
    incarnation: 1,
    seq,
    upMs: 10 * MINUTE,
    nextMs: SECOND,
    weight: 1,
    members,
    bye: false,
    quotas: [{ ...quota, level: undefined, joinSnapshot: undefined }],
  };
}

/** Agents with wrong or contradictory configurations, clocks or messages. */
export const mistakes: readonly Scenario[] = [
  {
    name: "two processes with one name",
    options: (agents) => ({
      limits: thousand,
      demand: even,
      names: all(agents).map((agent) => `agent-${agent === 1 ? 0 : agent}`),
      duration: 6 * MINUTE,
    }),
    figures: (report) => [...within(report), atLeast("use", report.use, 0.95)],
  },
  {
    name: "the limit changes while it runs",
    options: () => ({
      limits: thousand,
      demand: { load: 4 },
      faults: [
        { at: 3 * MINUTE, type: "limits", limits: { requests: 500 } },
        { at: 6 * MINUTE, type: "limits", limits: { requests: 800 } },
      ],
      duration: 9 * MINUTE,
    }),
    figures: (report) => [
      atMost("max", report.max, 1.02),
      atMost("use at half", useBetween(report, 4 * MINUTE, 6 * MINUTE), 0.51),
      atLeast("use at half", useBetween(report, 4 * MINUTE, 6 * MINUTE), 0.48),
      atLeast("use at 80 %", useBetween(report, 7 * MINUTE, 9 * MINUTE), 0.76),
    ],
  },
  {
    name: "a limit that one agent learns reaches all within a heartbeat",
    options: (agents) => ({
      limits: thousand,
      demand: busy,
      faults: [{ at: 3 * MINUTE, type: "limits", limits: { requests: 500 }, agents: [agents - 1] }],
      duration: 3 * MINUTE + 1_100,
    }),
    // The duration allows one heartbeat and the transit time of a message.
    figures: (report) => [...within(report), atMost("limits in the end", report.limits, 1)],
    mostAgents: 100,
  },
  {
    name: "the wall clock goes back between two incarnations",
    options: (agents) => ({
      limits: thousand,
      demand: even,
      faults: [
        { at: 4 * MINUTE, type: "restart", agents: some(agents, 0.3), downMs: SECOND, graceful: true, isEarlier: true },
      ],
      duration: 7 * MINUTE,
    }),
    figures: (report) => [
      ...within(report),
      atLeast("use after", useBetween(report, 5 * MINUTE, 7 * MINUTE), 0.95),
      atLeast("jain", report.jain, 0.98),
    ],
    mostAgents: 100,
  },
  {
    name: "an agent claims a thousand million",
    options: (agents) => ({
      limits: thousand,
      demand: even,
      faults: Array.from(
        { length: 180 },
        (_, i): Fault => ({ at: 2 * MINUTE + i * SECOND, type: "inject", message: liar(i + 1, agents) }),
      ),
      duration: 5 * MINUTE,
    }),
    figures: (report) => [...within(report), atLeast("use", report.use, 0.95), atLeast("jain", report.jain, 0.99)],
    mostAgents: 100,
  },
  {
    name: "one agent is configured with half of the limit",
    options: () => ({
      limits: thousand,
      demand: busy,
      faults: [{ at: 3 * MINUTE, type: "limits", limits: { requests: 500 }, agents: [0] }],
      duration: 7 * MINUTE,
    }),
    figures: (report) => [
      ...within(report),
      atMost("use", useBetween(report, 5 * MINUTE, 7 * MINUTE), 0.51),
      atLeast("use", useBetween(report, 5 * MINUTE, 7 * MINUTE), 0.48),
    ],
  },
];
