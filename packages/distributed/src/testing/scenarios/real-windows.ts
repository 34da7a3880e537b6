import { useBetween } from "../report.ts";
import { atLeast, atMost, MINUTE, type Scenario, SECOND } from "./scenario.ts";

/** Demand is twice the limit and equal for all agents, and calls give up after a minute. */
const busy = { load: 2, skew: 0, patienceMs: MINUTE } as const;
const account = { requests: 600 } as const;

/** Providers that enforce a minute's limit over seconds: agents that learn it, and agents that are configured with it. */
export const realWindows: readonly Scenario[] = [
  ...[1, 10].map(
    (seconds): Scenario => ({
      name: `600 a minute, enforced each ${seconds} s, among 2`,
      options: () => ({
        agents: 2,
        limits: account,
        demand: busy,
        provider: { subWindowMs: seconds * SECOND },
        learnWindows: true,
        duration: 10 * MINUTE,
      }),
      figures: (report) => [
        atMost("refused part", report.refused / report.sent, 0.01),
        atLeast("use", report.useOfAllowed, 0.9),
      ],
    }),
  ),
  {
    name: "600 a minute, enforced each 1 s, among 50",
    options: () => ({
      agents: 50,
      limits: account,
      demand: busy,
      provider: { subWindowMs: SECOND },
      learnWindows: true,
      duration: 3 * MINUTE,
      measureFrom: MINUTE,
    }),
    figures: (report) => [
      // All agents send at once before any of them knows of the first refusal. Later nothing is refused.
      atMost("refused for each agent", report.refused / 50, 1.5),
      atLeast("use", report.useOfAllowed, 0.9),
    ],
  },
  {
    name: "a bucket that holds a quarter of the limit, among 2",
    options: () => ({
      agents: 2,
      limits: account,
      demand: { ...busy, load: (now) => (now % (2 * MINUTE) < MINUTE ? 3 : 0.2) },
      provider: { kind: "bucket", burst: 0.25 },
      learnWindows: true,
      duration: 10 * MINUTE,
    }),
    figures: (report) => [
      atMost("refused part", report.refused / report.sent, 0.01),
      atLeast("use while busy", useBetween(report, 8.1 * MINUTE, 9 * MINUTE), 0.9),
    ],
  },
  ...[2, 10].map(
    (agents): Scenario => ({
      name: `600 a minute, enforced and configured each 1 s, among ${agents}`,
      options: () => ({
        agents,
        limits: { ...account, windows: [{ dimension: "requests", limit: 10, windowMs: SECOND }] },
        demand: busy,
        provider: { subWindowMs: SECOND },
        duration: 5 * MINUTE,
      }),
      figures: (report) => [atMost("refused", report.refused, 0), atLeast("use", report.useOfAllowed, 0.9)],
    }),
  ),
  {
    name: "the provider stops to enforce seconds",
    options: () => ({
      limits: account,
      // Bursts of a quarter of the limit every minute, and little else.
      demand: {
        ...busy,
        load: 0.2,
        bursts: Array.from({ length: 24 }, (_, i) => ({ at: (i + 1) * MINUTE, load: 0.25 })),
      },
      learnWindows: true,
      faults: [{ at: 30 * SECOND, type: "refuse", agents: [0] }],
      duration: 25 * MINUTE,
      measureFrom: 14 * MINUTE,
    }),
    // What was learned from a stray refusal is forgotten after ten minutes.
    figures: (report) => [atMost("refused", report.refused, 1), atMost("wait p99, ms", report.wait.p99, 3 * SECOND)],
  },
];
