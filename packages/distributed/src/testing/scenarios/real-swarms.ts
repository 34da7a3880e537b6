import type { Fault } from "../options.ts";
import { useBetween } from "../report.ts";
import { all, atLeast, atMost, MINUTE, type Scenario, SECOND, some } from "./scenario.ts";

const limits = { requests: 600 } as const;
/** A provider with ten times the limit refuses nothing, so that any excess over the limit becomes visible. */
const lenient: Fault = { at: 0, type: "provider", factor: 10, forMs: 60 * MINUTE };
const busy = { load: 2, skew: 0, patienceMs: MINUTE } as const;

/** Restarts every agent under a new id each time it has run for `lifeMs`, at even intervals over the run. */
function lives(agents: number, lifeMs: number, graceful: boolean, to: number): Fault[] {
  return all(agents).flatMap((agent) => {
    const faults: Fault[] = [];
    for (let at = (lifeMs * (agent + 1)) / agents; at < to; at += lifeMs)
      faults.push({ at, type: "restart", agents: [agent], downMs: SECOND, graceful, isRenamed: true });
    return faults;
  });
}

/** Swarms as platforms run them: restarts under new ids, slow buses, wrong clocks, partitions. */
export const realSwarms: readonly Scenario[] = [
  ...(
    [
      [0.01, 0.95],
      [0.02, 0.8],
    ] as const
  ).map(
    ([drift, jain]): Scenario => ({
      name: `clocks are off by ${drift * 100} %`,
      options: () => ({ limits, demand: busy, drift, duration: 8 * MINUTE }),
      figures: (report) => [
        atMost("max", report.max, 1.02 + drift),
        atLeast("jain", report.jain, jain),
        atLeast("use", report.use, 0.92),
      ],
    }),
  ),
  {
    name: "a fifth of the agents only observe",
    options: (agents) => ({
      limits,
      demand: { ...busy, load: 1.2 },
      observers: some(agents, 0.2),
      duration: 6 * MINUTE,
    }),
    figures: (report) => [atMost("refused part", report.refused / report.sent, 0.002)],
  },
  {
    name: "incarnations of two minutes, without a goodbye, under new names",
    options: (agents) => ({
      limits,
      demand: busy,
      faults: lives(agents, 2 * MINUTE, false, 10 * MINUTE),
      duration: 10 * MINUTE,
    }),
    figures: (report) => [atMost("refused part", report.refused / report.sent, 0.01), atLeast("use", report.use, 0.85)],
  },
  {
    name: "nine tenths of the agents crash, and others start in their places",
    options: (agents) => ({
      limits,
      demand: busy,
      faults: [
        {
          at: 4 * MINUTE,
          type: "restart",
          agents: some(agents, 0.9),
          downMs: 2 * SECOND,
          graceful: false,
          isRenamed: true,
        },
      ],
      duration: 6 * MINUTE,
    }),
    figures: (report) => [
      atMost("max", report.max, 1.02),
      atMost("refused part", report.refused / report.sent, 0.01),
      atLeast("use 20 s later", useBetween(report, 4 * MINUTE + 20 * SECOND, 5 * MINUTE), 0.85),
    ],
  },
  ...([false, true] as const).map(
    (isRenamed): Scenario => ({
      name: `all agents crash and start again at once, with a store${isRenamed ? ", under new names" : ""}`,
      options: (agents) => ({
        limits,
        demand: busy,
        store: { aggregation: "auto" },
        faults: [
          lenient,
          {
            at: 3 * MINUTE + 20 * SECOND,
            type: "restart",
            agents: all(agents),
            downMs: 2 * SECOND,
            graceful: false,
            isRenamed,
          },
        ],
        duration: 6 * MINUTE,
      }),
      figures: (report) => [
        atMost("max", report.max, 1.02),
        atLeast("use 20 s later", useBetween(report, 3 * MINUTE + 42 * SECOND, 5 * MINUTE), 0.9),
      ],
    }),
  ),
  {
    name: "incarnations of twenty seconds, with a goodbye",
    options: (agents) => ({
      limits,
      demand: busy,
      faults: lives(agents, 20 * SECOND, true, 6 * MINUTE),
      duration: 6 * MINUTE,
    }),
    figures: (report) => [atMost("refused part", report.refused / report.sent, 0.01), atLeast("use", report.use, 0.9)],
  },
  {
    name: "the bus takes one to two seconds",
    options: () => ({
      limits,
      demand: busy,
      network: { delayMs: [1_000, 2_000], slowMs: [2_000, 3_000] },
      duration: 8 * MINUTE,
    }),
    figures: (report) => [atMost("refused", report.refused, 0), atLeast("use", report.use, 0.9)],
  },
  ...[5, 60].map(
    (seconds): Scenario => ({
      name: `a partition in halves for ${seconds} s, with a burst on both sides`,
      options: (agents) => ({
        limits,
        demand: { load: 0.1, skew: 0, maxQueue: 600, bursts: [{ at: 3 * MINUTE + SECOND, load: 2 }] },
        faults: [
          lenient,
          {
            at: 3 * MINUTE,
            type: "split",
            groups: [all(agents).slice(0, agents / 2), all(agents).slice(agents / 2)],
            forMs: seconds * SECOND,
          },
        ],
        duration: 6 * MINUTE,
      }),
      figures: (report) => [atMost("max", report.max, 1.1)],
    }),
  ),
  {
    name: "an agent starts behind a partition, with expectedAgents",
    options: () => ({
      agents: 5,
      limits,
      expectedAgents: 5,
      demand: busy,
      absent: [4],
      faults: [
        lenient,
        { at: 3 * MINUTE - SECOND, type: "cut", agents: [4], forMs: MINUTE },
        { at: 3 * MINUTE, type: "join", agents: [4] },
      ],
      duration: 6 * MINUTE,
    }),
    // The other agents cannot know of the newcomer, which uses its share of one fifth beside theirs.
    figures: (report) => [atMost("max", report.max, 1.2)],
    mostAgents: 10,
  },
  {
    name: "an agent starts behind a partition, and receives only its own messages",
    options: () => ({
      agents: 5,
      limits,
      expectedAgents: 5,
      demand: busy,
      absent: [4],
      faults: [
        lenient,
        { at: 3 * MINUTE - SECOND, type: "split", groups: [[0, 1, 2, 3], [4]], forMs: MINUTE },
        { at: 3 * MINUTE, type: "join", agents: [4] },
      ],
      duration: 6 * MINUTE,
    }),
    // The other agents cannot know of the newcomer. Its share of one fifth exceeds the limit, and a little more when
    // they meet.
    figures: (report) => [atMost("max", report.max, 1.22)],
    mostAgents: 10,
  },
  {
    name: "all agents restart within seconds",
    options: (agents) => ({
      limits,
      demand: busy,
      faults: all(agents).map(
        (agent): Fault => ({
          at: 3 * MINUTE + (agent * 5 * SECOND) / agents,
          type: "restart",
          agents: [agent],
          downMs: 2 * SECOND,
          graceful: true,
        }),
      ),
      duration: 6 * MINUTE,
    }),
    figures: (report) => [
      atMost("max", report.max, 1.02),
      atMost("refused part", report.refused / report.sent, 0.002),
      atLeast("use after", useBetween(report, 3.5 * MINUTE, 6 * MINUTE), 0.9),
    ],
  },
];
