import type { Fault, StoreOptions } from "../options.ts";
import { useBetween } from "../recorder.ts";
import { all, atLeast, atMost, MINUTE, type Scenario, SECOND, some, thousand, within } from "./scenario.ts";

const handed: StoreOptions = { aggregation: "store" };
const busy = { load: 3 } as const;

/** A fault of the store in the third minute, while demand exceeds the limit. */
function trouble(name: string, faults: readonly Fault[], learnings: number, useAfter = 0.95): Scenario {
  return {
    name: `the store ${name}`,
    options: () => ({ limits: thousand, demand: busy, store: handed, faults, duration: 6 * MINUTE }),
    figures: (report) => [
      ...within(report),
      // The store learns once when all agents start, and again after the fault.
      atLeast("times learned", report.learnings, learnings),
      atLeast("use after", useBetween(report, 5 * MINUTE, 6 * MINUTE), useAfter),
      atMost("messages", report.messagesPerAgentSecond, 0.01),
    ],
  };
}

/** A store grants parts of the limit: its normal use, and its failures. */
export const store: readonly Scenario[] = [
  {
    name: "granted by a store, three times the limit",
    options: () => ({ limits: thousand, demand: busy, store: handed, duration: 6 * MINUTE }),
    figures: (report) => [
      ...within(report),
      atLeast("use", report.use, 0.95),
      atLeast("jain", report.jain, report.agents <= 100 ? 0.99 : 0.85),
      atMost("longest gap", report.longestGap, 3),
      atMost("calls", report.storeCallsPerAgentSecond, 1.5),
    ],
  },
  {
    name: "granted by a store, 30 % of the limit",
    options: () => ({ limits: thousand, demand: { load: 0.3 }, store: handed, duration: 5 * MINUTE }),
    figures: (report) => [...within(report), atMost("wait p99, ms", report.wait.p99, 500)],
  },
  {
    name: "granted by a store, a hundred thousand a minute",
    options: () => ({ limits: { requests: 100_000 }, demand: busy, store: handed, duration: 4 * MINUTE }),
    figures: (report) => [
      ...within(report),
      atLeast("use", report.use, 0.95),
      atMost("longest gap", report.longestGap, 3),
    ],
  },
  {
    name: "granted by a store, five limits at once",
    options: () => ({
      limits: thousand,
      demand: { load: 0, bursts: [{ at: MINUTE, load: 5 }], maxQueue: 5_000 },
      store: handed,
      duration: 10 * MINUTE,
    }),
    figures: (report) => [...within(report, 1.05), atLeast("accepted", report.accepted, 4_999)],
  },
  trouble("is away for a minute", [{ at: 3 * MINUTE, type: "store-down", forMs: MINUTE }], 2),
  trouble("restarts empty", [{ at: 3 * MINUTE, type: "store-flush" }], 2),
  trouble(
    "restarts empty, twice",
    [3, 3.5].map((m): Fault => ({ at: m * MINUTE, type: "store-flush" })),
    3,
  ),
  trouble(
    "is replaced at once by one that is three seconds behind",
    [{ at: 3 * MINUTE, type: "store-failover", staleMs: 3 * SECOND, forMs: 0 }],
    2,
  ),
  trouble(
    "is replaced after ten seconds by one that was three seconds behind",
    [{ at: 3 * MINUTE, type: "store-failover", staleMs: 3 * SECOND, forMs: 10 * SECOND }],
    2,
  ),
  trouble("stands still for five seconds", [{ at: 3 * MINUTE, type: "store-stall", forMs: 5 * SECOND }], 2),
  trouble("fails in a fifth of the calls", [{ at: 2 * MINUTE, type: "store-errors", part: 0.2, forMs: 3 * MINUTE }], 1),
  {
    name: "the store is away for ten minutes",
    options: () => ({
      limits: thousand,
      demand: busy,
      store: handed,
      faults: [{ at: 3 * MINUTE, type: "store-down", forMs: 10 * MINUTE }],
      duration: 16 * MINUTE,
    }),
    figures: (report) => [
      ...within(report, 1.05),
      atLeast("use after", useBetween(report, 15 * MINUTE, 16 * MINUTE), 0.95),
    ],
  },
  {
    name: "a third cannot reach the store for a minute",
    options: (agents) => ({
      limits: thousand,
      demand: busy,
      store: handed,
      faults: [{ at: 3 * MINUTE, type: "store-down", forMs: MINUTE, agents: some(agents, 1 / 3) }],
      duration: 6 * MINUTE,
    }),
    figures: (report) => [
      ...within(report, 1.05),
      atLeast("use after", useBetween(report, 5 * MINUTE, 6 * MINUTE), 0.95),
    ],
  },
  {
    name: "granted by a store, half of the agents crash",
    options: (agents) => ({
      limits: thousand,
      demand: { load: 3, skew: 0 },
      store: handed,
      faults: [{ at: 3 * MINUTE, type: "crash", agents: some(agents, 0.5) }],
      duration: 6 * MINUTE,
    }),
    figures: (report) => [
      ...within(report),
      atLeast("use 95 s later", useBetween(report, 4.6 * MINUTE, 6 * MINUTE), 0.95),
    ],
  },
  {
    name: "a refusal in store mode",
    options: () => ({
      limits: thousand,
      demand: { load: 3, skew: 0 },
      store: handed,
      faults: [{ at: 3 * MINUTE, type: "refuse", agents: [0] }],
      duration: 6 * MINUTE,
    }),
    figures: (report) => [
      atMost("max", report.max, 1.02),
      atMost("cuts", report.cuts, 1),
      atMost("cut known everywhere, ms", report.cutSpreadMs, 1_100),
      atMost("levels in the end", report.levels, 1),
    ],
  },
  {
    name: "from the bus to the store, when agents become many",
    options: (agents) => ({
      limits: thousand,
      demand: { load: 3, skew: 0 },
      store: { aggregation: "auto", above: 0.7 * agents, below: 0.4 * agents },
      absent: all(agents).slice(Math.floor(agents / 2)),
      faults: [{ at: 3 * MINUTE, type: "join", agents: all(agents).slice(Math.floor(agents / 2)) }],
      duration: 6 * MINUTE,
    }),
    figures: (report) => [
      ...within(report),
      atLeast("use", report.use, 0.95),
      atLeast("times learned", report.learnings, 2),
    ],
    mostAgents: 100,
  },
  {
    name: "from the store to the bus, when agents become few",
    options: (agents) => ({
      limits: thousand,
      demand: { load: 3, skew: 0 },
      store: { aggregation: "auto", above: 0.7 * agents, below: 0.4 * agents },
      faults: [{ at: 3 * MINUTE, type: "leave", agents: all(agents).slice(Math.floor(0.3 * agents)) }],
      duration: 6 * MINUTE,
    }),
    figures: (report) => [
      atMost("max", report.max, 1.02),
      atLeast("use after", useBetween(report, 5 * MINUTE, 6 * MINUTE), 0.5),
    ],
    mostAgents: 100,
  },
];
