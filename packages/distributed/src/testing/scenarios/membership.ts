import type { Fault } from "../options.ts";
import { useBetween } from "../recorder.ts";
import { all, atLeast, atMost, MINUTE, type Scenario, SECOND, some, thousand, within } from "./scenario.ts";

const busy = { load: 3 } as const;
/** All agents have the same demand, so that only the number of agents matters. */
const even = { load: 3, skew: 0 } as const;

function upper(agents: number): number[] {
  return all(agents).slice(Math.floor(agents / 2));
}

/** Agents that restart, every second one without a goodbye, at even intervals. */
function churn(agents: number, perMinute: number, from: number, to: number): Fault[] {
  const count = Math.round((agents * perMinute * (to - from)) / MINUTE);
  return Array.from({ length: count }, (_, i): Fault => {
    const at = from + ((to - from) * (i + 0.5)) / count;
    return { at, type: "restart", agents: [(i * 7) % agents], downMs: 3 * SECOND, graceful: i % 2 === 0 };
  });
}

/** Agents join, leave, crash, and lose each other. */
export const membership: readonly Scenario[] = [
  {
    name: "twice as many agents at once",
    options: (agents) => ({
      limits: thousand,
      demand: even,
      absent: upper(agents),
      faults: [{ at: 4 * MINUTE, type: "join", agents: upper(agents) }],
      duration: 8 * MINUTE,
    }),
    figures: (report) => [
      ...within(report),
      atLeast("use after", useBetween(report, 4 * MINUTE + 2 * SECOND, 5 * MINUTE + 2 * SECOND), 0.95),
    ],
  },
  {
    name: "one more agent",
    options: (agents) => ({
      limits: { requests: 600 * agents },
      demand: { load: 0.8, skew: 0 },
      absent: [agents - 1],
      faults: [{ at: 4 * MINUTE, type: "join", agents: [agents - 1] }],
      duration: 8 * MINUTE,
    }),
    figures: (report) => [...within(report), atMost("join, ms", report.joinMs, 1_500)],
    mostAgents: 100,
  },
  ...(
    [
      ["all is in use", 25 * SECOND, 3 * SECOND],
      // The window was filled a little faster than it comes free, so that at times no agent can send for seconds.
      ["nobody can send", 0, 8 * SECOND],
    ] as const
  ).map(
    ([what, inWindow, most]): Scenario => ({
      name: `one more agent, when ${what}`,
      options: (agents) => ({
        limits: { requests: 200 * agents },
        demand: { ...even, maxQueue: 100 },
        absent: [agents - 1],
        faults: [{ at: 4 * MINUTE + inWindow, type: "join", agents: [agents - 1] }],
        duration: 8 * MINUTE,
        measureFrom: 6 * MINUTE,
      }),
      figures: (report) => [
        ...within(report),
        atMost("join, ms", report.joinMs, most),
        atLeast("jain", report.jain, 0.99),
      ],
      mostAgents: 100,
    }),
  ),
  {
    name: "half of the agents leave",
    options: (agents) => ({
      limits: thousand,
      demand: even,
      // In the middle of a window, when other agents use freed capacity at once.
      faults: [{ at: 4 * MINUTE + 24.5 * SECOND, type: "leave", agents: upper(agents) }],
      duration: 8 * MINUTE,
    }),
    figures: (report) => [
      ...within(report),
      // Usage in ten seconds varies by some percent even without a departure.
      atLeast("use from 0.5 s later on", useBetween(report, 4 * MINUTE + 25 * SECOND, 4 * MINUTE + 35 * SECOND), 0.93),
      atLeast("use after", useBetween(report, 4 * MINUTE + 25 * SECOND, 5 * MINUTE + 25 * SECOND), 0.95),
    ],
  },
  {
    name: "a rolling restart, a tenth every ten seconds",
    options: (agents) => ({
      limits: thousand,
      demand: even,
      faults: Array.from({ length: 10 }, (_, i): Fault => {
        const tenth = all(agents).filter((agent) => agent % 10 === i);
        return { at: 4 * MINUTE + i * 10 * SECOND, type: "restart", agents: tenth, downMs: 2 * SECOND, graceful: true };
      }),
      duration: 8 * MINUTE,
    }),
    figures: (report) => [...within(report), atLeast("use", report.use, 0.95)],
  },
  ...(
    [
      [0.05, 0.95],
      [0.5, 0.85],
    ] as const
  ).map(
    ([perMinute, use]): Scenario => ({
      name: `${perMinute * 100} % of the agents are replaced every minute`,
      options: (agents) => ({
        limits: thousand,
        demand: even,
        faults: churn(agents, perMinute, 2 * MINUTE, 10 * MINUTE),
        duration: 10 * MINUTE,
      }),
      figures: (report) => [
        atMost("max", report.max, 1.02),
        // Usage that a crashed agent had not yet reported is unknown to the others.
        atMost("refused part", report.refused / report.sent, 0.002),
        atLeast("use", report.use, use),
      ],
    }),
  ),
  {
    name: "half of the agents crash",
    options: (agents) => ({
      limits: thousand,
      demand: even,
      faults: [{ at: 4 * MINUTE, type: "crash", agents: upper(agents) }],
      duration: 8 * MINUTE,
    }),
    figures: (report) => [
      ...within(report),
      atLeast("use 95 s later", useBetween(report, 4 * MINUTE + 95 * SECOND, 4 * MINUTE + 155 * SECOND), 0.95),
    ],
  },
  {
    name: "a process stands still for half a minute",
    options: (agents) => ({
      limits: thousand,
      demand: busy,
      faults: [{ at: 4 * MINUTE, type: "freeze", agents: some(agents, 0.2), forMs: 30 * SECOND }],
      duration: 8 * MINUTE,
    }),
    figures: (report) => [...within(report), atLeast("use", report.use, 0.9)],
  },
  {
    name: "a process stands still for 2 s every 10",
    options: () => ({
      limits: thousand,
      demand: even,
      faults: Array.from(
        { length: 40 },
        (_, i): Fault => ({
          at: 2 * MINUTE + i * 10 * SECOND,
          type: "freeze",
          agents: [0],
          forMs: 2 * SECOND,
        }),
      ),
      duration: 9 * MINUTE,
    }),
    figures: (report) => [...within(report), atLeast("use", report.use, 0.95)],
  },
  {
    name: "clocks are off by a hundredth",
    options: () => ({ limits: thousand, demand: busy, drift: 0.01, duration: 8 * MINUTE }),
    figures: (report) => [...within(report), atLeast("use", report.use, 0.94)],
  },
  {
    name: "a newcomer in an idle swarm, then a burst at all agents",
    options: () => ({
      agents: 3,
      limits: thousand,
      demand: { load: 0, bursts: [{ at: 62_500, load: 3 }], maxQueue: 5_000 },
      absent: [2],
      faults: [{ at: 61_000, type: "join", agents: [2] }],
      duration: 3 * MINUTE,
      measureFrom: 0,
    }),
    figures: (report) => within(report),
    mostAgents: 10,
  },
  {
    name: "one agent, then two, then one",
    options: () => ({
      agents: 2,
      limits: thousand,
      demand: even,
      absent: [1],
      faults: [
        { at: 3 * MINUTE, type: "join", agents: [1] },
        { at: 6 * MINUTE, type: "leave", agents: [1] },
      ],
      duration: 9 * MINUTE,
    }),
    figures: (report) => [...within(report), atLeast("use", report.use, 0.95)],
    mostAgents: 10,
  },
  {
    name: "all the demand moves to another agent in mid-window",
    options: () => ({
      limits: thousand,
      demand: { load: 2, skew: (agent, now) => (agent === (now < 4.5 * MINUTE ? 0 : 1) ? 1 : 0) },
      duration: 8 * MINUTE,
    }),
    figures: (report) => [...within(report), atLeast("use", report.use, 0.95)],
  },
];
