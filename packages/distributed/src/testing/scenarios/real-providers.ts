import { useBetween } from "../report.ts";
import { atLeast, atMost, MINUTE, type Scenario, SECOND } from "./scenario.ts";

const HOUR = 60 * MINUTE;
/** The account of a small team. */
const account = { requests: 600, tokens: 300_000 } as const;
/** Call durations of a chat program: 1 to 120 s, with a median of 8 s. */
const chat = { median: 8 * SECOND, sigma: 0.9, from: SECOND, to: 120 * SECOND } as const;
/** Call sizes of 300 to 8,000 tokens: 300,000 tokens a minute are about 250 calls. */
const tokens = { median: 1_000, sigma: 0.6, from: 300, to: 8_000 } as const;
/** Demand is twice the limit and equal for all agents, and calls give up after a minute. */
const busy = { load: 2, skew: 0, patienceMs: MINUTE } as const;

/**
 * The usable fraction of the limit for calls that take `callMs` and use the fraction `part` of their estimates: a window
 * holds the usage of finished calls and the estimates of calls in flight.
 */
function usableAt(part: number, callMs: number): number {
  return (part * MINUTE) / (part * (MINUTE - callMs) + callMs);
}

/** Providers that count, refuse and answer like real ones. */
export const realProviders: readonly Scenario[] = [
  {
    name: "calls of 1 to 120 s, counted at the start by an exact estimate",
    options: () => ({
      limits: account,
      demand: { ...busy, tokens },
      provider: { callMs: chat, countsTokens: "estimate-at-start" },
      duration: 8 * MINUTE,
    }),
    figures: (report) => [
      atMost("max", report.max, 1.02),
      atMost("refused", report.refused, 0),
      atLeast("use", report.useOfAllowed, 0.92),
      atLeast("jain", report.jain, 0.95),
    ],
  },
  {
    name: "calls of 5 to 30 s, counted at the end by usage, exact estimates",
    options: () => ({
      limits: account,
      demand: { ...busy, tokens },
      provider: { callMs: { ...chat, from: 5 * SECOND, to: 30 * SECOND }, countsTokens: "usage-at-end" },
      duration: 10 * MINUTE,
    }),
    figures: (report) => [
      atLeast("use", report.useOfAllowed, 0.92),
      atMost("refused part", report.refused / report.sent, 0.01),
    ],
  },
  {
    name: "estimates are wrong both ways, counted at the end",
    options: () => ({
      limits: account,
      demand: { ...busy, tokens, estimate: { bias: 1, spread: 0.5 } },
      provider: { callMs: chat, countsTokens: "usage-at-end" },
      duration: 10 * MINUTE,
    }),
    figures: (report) => [
      atLeast("use", report.useOfAllowed, 0.9),
      atMost("refused part", report.refused / report.sent, 0.02),
    ],
  },
  ...(
    [
      ["alone", 1],
      ["among ten", 10],
    ] as const
  ).map(
    ([name, agents]): Scenario => ({
      name: `calls use 15 % of their estimate, ${name}`,
      options: () => ({
        agents,
        limits: { tokens: 300_000 },
        demand: { load: 2, skew: 0, maxQueue: 500, tokens: 400, estimate: { bias: 1 / 0.15, spread: 0 } },
        provider: { latencyMs: [2 * SECOND, 4 * SECOND] },
        duration: 8 * MINUTE,
      }),
      figures: (report) => [
        atMost("refused", report.refused, 0),
        // Several agents leave 1 % free, and learn refunds of the others a third of a second late.
        atLeast(
          "use",
          report.useOfAllowed,
          0.95 * (agents === 1 ? usableAt(0.15, 3 * SECOND) : 0.99 * usableAt(0.15, 3.35 * SECOND)),
        ),
      ],
    }),
  ),
  ...(
    [
      [SECOND, false],
      [SECOND, true],
      [10 * SECOND, false],
    ] as const
  ).map(
    ([subWindowMs, headers]): Scenario => ({
      name: `600 a minute, enforced each ${subWindowMs / SECOND} s${headers ? ", with headers" : ""}`,
      options: () => ({
        limits: { requests: 600 },
        demand: busy,
        provider: { subWindowMs, headers },
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
    name: "a bucket that holds a quarter of the limit",
    options: () => ({
      limits: { requests: 600 },
      demand: { ...busy, load: (now) => (now % (2 * MINUTE) < MINUTE ? 3 : 0.2) },
      provider: { kind: "bucket", burst: 0.25 },
      learnWindows: true,
      duration: 10 * MINUTE,
    }),
    figures: (report) => [
      atMost("refused part", report.refused / report.sent, 0.01),
      // Demand is below the limit in every other minute.
      atLeast("use while busy", useBetween(report, 8.1 * MINUTE, 9 * MINUTE), 0.9),
    ],
  },
  {
    name: "2 % of the answers are server errors",
    options: () => ({
      limits: { requests: 600 },
      demand: busy,
      provider: { failures: { errors: 0.02 } },
      duration: 6 * MINUTE,
    }),
    figures: (report) => [atMost("refused", report.refused, 0), atLeast("use", report.useOfAllowed, 0.93)],
  },
  {
    name: "2 % of the answers are overload",
    options: () => ({
      limits: { requests: 600 },
      demand: { ...busy, load: 0.8 },
      provider: { failures: { overloads: 0.02 } },
      duration: 8 * MINUTE,
    }),
    figures: (report) => [
      atMost("refused", report.refused, 0),
      atLeast("use", report.useOfAllowed, 0.76),
      atMost("wait p99, ms", report.wait.p99, 10 * SECOND),
    ],
  },
  ...[true, false].map(
    (tellsWait): Scenario => ({
      name: `the day's quota is gone after four minutes, ${tellsWait ? "and refusals say for how long" : "without a word"}`,
      options: () => ({
        limits: { requests: 600 },
        demand: { ...busy, load: 0.9 },
        provider: { quota: { requests: 20_000, used: 0.9, tellsWait } },
        duration: 14 * MINUTE,
      }),
      figures: (report) => [
        atLeast("accepted", report.accepted, 1_900),
        // One probe a minute is enough to notice that the provider has recovered.
        atMost("refused", report.refused, 100),
      ],
    }),
  ),
  {
    name: "headers show a limit of 60 % of the configured one",
    options: () => ({
      limits: { requests: 600 },
      demand: busy,
      provider: { headers: true },
      faults: [{ at: 0, type: "provider", factor: 0.6, forMs: HOUR }],
      duration: 10 * MINUTE,
    }),
    figures: (report) => [
      atMost("refused part", report.refused / report.sent, 0.01),
      atLeast("use of what is allowed", report.useOfAllowed, 0.9),
    ],
  },
  {
    name: "the true limit is 40 % of the configured one, and refused calls count",
    options: () => ({
      limits: { requests: 600 },
      demand: busy,
      provider: { countsRefused: true },
      faults: [{ at: 0, type: "provider", factor: 0.4, forMs: HOUR }],
      duration: 20 * MINUTE,
    }),
    figures: (report) => [
      atMost("refused part", report.refused / report.sent, 0.01),
      atLeast("use of what is allowed", report.useOfAllowed, 0.9),
    ],
  },
  {
    name: "a window of an hour, of which the provider allows 60 %",
    options: () => ({
      agents: 5,
      limits: { requests: 600, windowMs: HOUR },
      demand: { load: 2, skew: 0, patienceMs: 10 * MINUTE },
      faults: [{ at: 0, type: "provider", factor: 0.6, forMs: 10 * HOUR }],
      duration: 4 * HOUR,
    }),
    figures: (report) => [
      atMost("refused part", report.refused / report.sent, 0.02),
      atLeast("use of what is allowed", report.useOfAllowed, 0.9),
    ],
    mostAgents: 10,
  },
  {
    name: "one stray refusal at 90 % load",
    options: () => ({
      limits: { requests: 600 },
      demand: { load: 0.9, skew: 0 },
      faults: [{ at: 4 * MINUTE, type: "refuse", agents: [0] }],
      duration: 8 * MINUTE,
    }),
    figures: (report) => [
      atMost("cuts", report.cuts, 1),
      atMost("wait p99, ms", report.wait.p99, 5 * SECOND),
      atLeast("use in the minute after", useBetween(report, 4 * MINUTE + 20 * SECOND, 5.3 * MINUTE), 0.85),
    ],
  },
  {
    name: "the provider falls to 60 % for two minutes",
    options: () => ({
      limits: { requests: 1_000 },
      demand: busy,
      faults: [{ at: 4 * MINUTE, type: "provider", factor: 0.6, forMs: 2 * MINUTE }],
      duration: 8 * MINUTE,
      measureFrom: 4 * MINUTE,
    }),
    figures: (report) => [
      atMost("refused part", report.refused / report.sent, 0.01),
      atLeast("use of what is allowed meanwhile", useBetween(report, 4 * MINUTE, 6 * MINUTE) / 0.6, 0.95),
      atLeast("use 20 s later", useBetween(report, 6 * MINUTE + 20 * SECOND, 7 * MINUTE + 20 * SECOND), 0.97),
    ],
  },
  {
    name: "the configured limit is 2.5 times the true one",
    options: () => ({
      limits: { requests: 1_000 },
      demand: busy,
      faults: [{ at: 0, type: "provider", factor: 0.4, forMs: 2 * HOUR }],
      duration: HOUR,
    }),
    figures: (report) => [
      atMost("refused part", report.refused / report.sent, 0.01),
      atLeast("use of what is allowed", report.useOfAllowed, 0.9),
    ],
    mostAgents: 10,
  },
  {
    name: "another program uses 30 to 70 % of the account, varying",
    options: () => ({
      limits: { requests: 1_000 },
      demand: busy,
      faults: Array.from({ length: 10 }, (_, i) => ({
        at: 2 * MINUTE * i,
        type: "provider" as const,
        factor: [0.7, 0.5, 0.3, 0.5][i % 4] as number,
        // Each fault must end before the next one starts.
        forMs: 2 * MINUTE - 1,
      })),
      duration: 20 * MINUTE,
    }),
    figures: (report) => [
      atMost("refused part", report.refused / report.sent, 0.01),
      atLeast("use of what is left", report.useOfAllowed, 0.9),
    ],
    mostAgents: 10,
  },
  {
    name: "the provider runs 20 calls at a time",
    options: () => ({
      limits: { requests: 600 },
      demand: { ...busy, load: 0.5 },
      provider: { maxInFlight: 20, callMs: chat },
      duration: 8 * MINUTE,
    }),
    figures: (report) => [atMost("refused part", report.refused / report.sent, 0.01)],
  },
];
