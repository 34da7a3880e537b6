import { useBetween } from "../report.ts";
import { atLeast, atMost, MINUTE, type Scenario, SECOND } from "./scenario.ts";

const busy = { load: 2, skew: 0, patienceMs: MINUTE } as const;
const three = [{ id: "east" }, { id: "west" }, { id: "north", limits: { requests: 300 } }] as const;

/** Several endpoints, keys and windows at once, and calls of different sizes. */
export const realTraffic: readonly Scenario[] = [
  {
    name: "calls to any of three endpoints",
    options: () => ({ limits: { requests: 600 }, endpoints: three, demand: busy, duration: 6 * MINUTE }),
    figures: (report) => [
      atMost("refused", report.refused, 0),
      ...three.flatMap(({ id }) => [
        atMost(`max of ${id}`, report.endpoints[id]?.max ?? 0, 1.02),
        atLeast(`use of ${id}`, report.endpoints[id]?.use ?? 0, 0.93),
      ]),
    ],
  },
  {
    name: "calls to any of three endpoints, of which one falls to a tenth",
    options: () => ({
      limits: { requests: 600 },
      endpoints: three,
      demand: { ...busy, load: 0.6 },
      faults: [{ at: 2 * MINUTE, type: "provider", factor: 0.1, forMs: 4 * MINUTE, endpoints: ["east"] }],
      duration: 8 * MINUTE,
    }),
    figures: (report) => [
      atMost("refused part", report.refused / report.sent, 0.02),
      // The other two endpoints have capacity for all calls.
      atLeast("use", useBetween(report, 3 * MINUTE, 6 * MINUTE), 0.55),
      atMost("wait p99, ms", report.wait.p99, 2 * SECOND),
    ],
  },
  {
    name: "calls to one of three endpoints, most of them to the first",
    options: () => ({
      limits: { requests: 600 },
      endpoints: three.map((one, i) => ({ ...one, part: i === 0 ? 5 : 1 })),
      demand: { load: 0.8, skew: 0, patienceMs: MINUTE, route: "one" },
      duration: 6 * MINUTE,
    }),
    figures: (report) => [
      atMost("refused", report.refused, 0),
      atLeast("use of east", report.endpoints["east"]?.use ?? 0, 0.93),
      // Calls to the other endpoints do not wait for calls to the first.
      atMost("wait p99 of west, ms", report.endpoints["west"]?.wait.p99 ?? 0, 2 * SECOND),
    ],
  },
  {
    name: "tenants with keys, one of which wants more than its key allows",
    options: () => ({
      limits: { requests: 600 },
      keys: [
        { key: "large", limits: { requests: 100 }, part: 2 },
        { key: "small", limits: { requests: 100 }, part: 0.5 },
        { key: "named by a function", limits: { requests: 200 }, part: 0.5, isDynamic: true },
        { key: "unlimited" },
      ],
      demand: { load: 0.5, skew: 0, patienceMs: MINUTE },
      duration: 6 * MINUTE,
    }),
    figures: (report) => [
      atMost("refused", report.refused, 0),
      atMost("wait p99 of unlimited, ms", report.keys["unlimited"]?.wait.p99 ?? 0, 2 * SECOND),
      atMost("max of large", report.keys["large"]?.max ?? 0, 1.05),
    ],
  },
  ...(
    [
      ["a day's tokens of which hardly any are used", 1e9],
      ["a day's tokens that would last eight hours", 1e8],
    ] as const
  ).map(
    ([name, quota]): Scenario => ({
      name: `a minute's requests, and ${name}`,
      options: () => ({
        limits: { requests: 600 },
        demand: { ...busy, tokens: 500 },
        // Hives learn the daily limit from headers.
        provider: { headers: true, quota: { tokens: quota } },
        duration: 8 * MINUTE,
      }),
      figures: (report) => [atMost("refused", report.refused, 0), atLeast("use", report.useOfAllowed, 0.96)],
    }),
  ),
  {
    name: "each agent has 12 calls in flight at most",
    options: () => ({
      agents: 10,
      limits: { requests: 1_200, maxInFlightPerProcess: 12 },
      demand: { load: 2, skew: 0.8, patienceMs: MINUTE },
      provider: { callMs: { median: 6 * SECOND, sigma: 0.3, from: 2 * SECOND, to: 20 * SECOND } },
      duration: 6 * MINUTE,
    }),
    // 120 slots and calls of 6.27 s on average give 1,148 calls a minute; the bound is 97 % of that.
    figures: (report) => [atMost("refused", report.refused, 0), atLeast("use", report.use, 0.928)],
    mostAgents: 10,
  },
  {
    name: "small calls beside huge ones",
    options: () => ({
      limits: { requests: 600, tokens: 300_000 },
      demand: {
        load: 1.5,
        skew: 0,
        patienceMs: 2 * MINUTE,
        tokens: { median: 200, sigma: 0.2, from: 100, to: 400, rare: { part: 0.04, tokens: 30_000 } },
      },
      duration: 8 * MINUTE,
    }),
    figures: (report) => [atMost("refused", report.refused, 0), atMost("wait p50, ms", report.wait.p50, SECOND)],
  },
  {
    name: "a burst at half of the limit drains",
    options: () => ({
      limits: { tokens: 300_000 },
      demand: {
        load: 0.5,
        skew: 0,
        maxQueue: 1_000,
        tokens: 400,
        estimate: { bias: 1 / 0.5, spread: 0 },
        bursts: [{ at: 3 * MINUTE, load: 1 }],
      },
      provider: { latencyMs: [2 * SECOND, 4 * SECOND] },
      duration: 8 * MINUTE,
      measureFrom: 5.5 * MINUTE,
    }),
    // Two windows after the burst no call waits any more.
    figures: (report) => [atMost("refused", report.refused, 0), atMost("wait p99, ms", report.wait.p99, SECOND)],
  },
];
