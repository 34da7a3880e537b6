import { type SwarmReport, useBetween } from "../recorder.ts";
import { atLeast, atMost, MINUTE, type Scenario, SECOND, steadyMs, thousand, within } from "./scenario.ts";

/** The standard deviation of the usage per second, over the seconds `from` to `to`. */
function spread({ seconds }: SwarmReport, from: number, to: number): number {
  const part = seconds.slice(from, to);
  const mean = part.reduce((sum, use) => sum + use, 0) / part.length;
  return Math.sqrt(part.reduce((sum, use) => sum + (use - mean) ** 2, 0) / part.length);
}

/** Only the network fails, which always loses a few messages. */
export const steady: readonly Scenario[] = [
  {
    name: "three times the limit, uneven",
    options: (agents) => ({ limits: thousand, demand: { load: 3 }, duration: steadyMs(agents) }),
    figures: (report, agents) => [
      ...within(report),
      atLeast("use", report.use, 0.96),
      atLeast("jain", report.jain, agents <= 100 ? 0.99 : 0.9),
    ],
  },
  {
    name: "1.3 times the limit, uneven",
    options: (agents) => ({ limits: thousand, demand: { load: 1.3 }, duration: steadyMs(agents) }),
    figures: (report, agents) => [
      ...within(report),
      atLeast("use", report.use, 0.95),
      atLeast("jain", report.jain, agents <= 100 ? 0.99 : 0.9),
    ],
  },
  {
    name: "80 % of the limit",
    options: (agents) => ({ limits: thousand, demand: { load: 0.8 }, duration: steadyMs(agents) }),
    figures: (report) => [...within(report), atMost("wait p99", report.wait.p99, 0.5 * SECOND)],
  },
  {
    name: "30 % of the limit",
    options: (agents) => ({ limits: thousand, demand: { load: 0.3 }, duration: steadyMs(agents) / 2 }),
    figures: (report) => [
      ...within(report),
      atMost("wait p99", report.wait.p99, 0.5 * SECOND),
      atMost("messages", report.messagesPerAgentSecond, 1.5),
    ],
  },
  {
    name: "as many agents as requests in a window",
    options: (agents) => ({ limits: { requests: agents }, demand: { load: 3, skew: 0 }, duration: steadyMs(agents) }),
    figures: (report) => [
      ...within(report),
      atLeast("use", report.use, 0.95),
      atMost("longest gap", report.longestGap, 3),
    ],
  },
  {
    name: "a limit of 3 among all",
    options: () => ({ limits: { requests: 3 }, demand: { load: 5, skew: 0 }, duration: 20 * MINUTE }),
    figures: (report, agents) => [...within(report, 1), atMost("longest gap", report.longestGap, agents / 3 + 3)],
    mostAgents: 20,
  },
  {
    name: "one request a minute for fifty agents",
    options: () => ({ agents: 50, limits: { requests: 1 }, demand: { load: 10, skew: 0 }, duration: 10 * MINUTE }),
    figures: (report) => [...within(report, 1), atLeast("sent", report.sent, 8)],
    mostAgents: 50,
  },
  {
    name: "all agents have calls waiting at the start",
    options: () => ({
      limits: thousand,
      demand: { load: 2, bursts: [{ at: 0, load: 5 }], maxQueue: 5_000 },
      duration: 3 * MINUTE,
    }),
    // With a hundred agents, each has ten calls in a window: too few for an even distribution.
    figures: (report) => [...within(report), ...(report.agents <= 10 ? [atLeast("jain", report.jain, 0.9)] : [])],
  },
  {
    name: "five limits at once",
    options: () => ({
      limits: thousand,
      demand: { load: 0, bursts: [{ at: 30 * SECOND, load: 5 }], maxQueue: 5_000 },
      duration: 7 * MINUTE,
      measureFrom: 30 * SECOND,
    }),
    figures: (report) => [...within(report, 1.05), atLeast("accepted", report.accepted, 4_950)],
  },
  {
    name: "80 % of the limit at once, every minute",
    options: () => ({
      limits: thousand,
      demand: {
        load: 0,
        bursts: Array.from({ length: 8 }, (_, i) => ({ at: 30 * SECOND + i * MINUTE, load: 0.8 })),
        maxQueue: 5_000,
      },
      duration: 9 * MINUTE,
      measureFrom: 0,
    }),
    figures: (report) => [...within(report, 1.05), atMost("wait p50", report.wait.p50, 2 * SECOND)],
  },
  {
    name: "no lockstep among equals",
    options: () => ({
      limits: { requests: 60_000 },
      demand: { load: 2, skew: 0, maxQueue: 5_000 },
      duration: 5 * MINUTE,
    }),
    figures: (report) => [
      ...within(report),
      atMost("busiest 50 ms", report.busiestTick, 3),
      atMost("busiest second", Math.max(...report.seconds.slice(180)), 2),
      atLeast("use", report.use, 0.96),
    ],
    mostAgents: 100,
  },
  ...[1, 2].map(
    (busy): Scenario => ({
      name: `only ${busy === 1 ? "one has" : "two have"} something to do`,
      options: () => ({
        limits: thousand,
        demand: { load: 2, skew: (agent) => (agent < busy ? 1 / busy : 0) },
        duration: 8 * MINUTE,
      }),
      figures: (report) => [...within(report), atLeast("use", report.use, 0.95)],
      mostAgents: 100,
    }),
  ),
  {
    name: "demand reverses between the agents",
    options: (agents) => ({
      limits: thousand,
      demand: {
        load: 3,
        skew: (agent, now) => (agent < agents / 2 === now < 4 * MINUTE ? 1.9 : 0.1) / agents,
      },
      duration: 8 * MINUTE,
    }),
    figures: (report) => [
      ...within(report),
      atLeast("use after", useBetween(report, 4 * MINUTE + 4 * SECOND, 5 * MINUTE + 4 * SECOND), 0.95),
    ],
  },
  ...[900, 1_000, 1_100].map(
    (ms): Scenario => ({
      name: `demand comes and goes every ${ms} ms`,
      options: (agents) => ({
        limits: thousand,
        demand: { load: 2, skew: (agent, now) => ((Math.floor(now / ms) + agent) % 2 ? 2 : 0) / agents },
        duration: 5 * MINUTE,
      }),
      figures: (report) => [
        ...within(report),
        atLeast("use", report.use, 0.95),
        atMost("growth of what is sent in a second", spread(report, 240, 300) / spread(report, 120, 180), 1.5),
      ],
    }),
  ),
  {
    name: "one agent demands 600 times its share",
    options: (agents) => ({
      limits: thousand,
      demand: {
        load: 63,
        skew: Array.from({ length: agents }, (_, i) => (i === 0 ? 60 : 3 / (agents - 1)) / 63),
        patienceMs: 30 * SECOND,
      },
      duration: 8 * MINUTE,
    }),
    figures: (report, agents) => {
      const [greedy = 0, ...others] = report.served;
      const sum = others.reduce((all, served) => all + served, 0);
      return [
        ...within(report),
        atMost("greedy's part", greedy / (greedy + sum), 1.05 / agents),
        atLeast("least of the others", Math.min(...others) / ((greedy + sum) / agents), 0.95),
      ];
    },
    mostAgents: 20,
  },
  {
    name: "agents that only try, at 90 %",
    options: (agents) => ({
      limits: thousand,
      demand: { load: 0.9, skew: 0, tryOnly: Array.from({ length: agents }, (_, i) => i), patienceMs: 30 * SECOND },
      duration: 6 * MINUTE,
    }),
    figures: (report) => [
      ...within(report),
      atLeast("use", report.use, 0.86),
      atLeast("least served", Math.min(...report.served.map((got, i) => got / (report.offered[i] ?? 1))), 0.95),
    ],
    mostAgents: 20,
  },
  {
    name: "weights of 1 to 4",
    options: (agents) => ({
      limits: thousand,
      demand: { load: 4, skew: 0 },
      weights: Array.from({ length: agents }, (_, i) => 1 + (i % 4)),
      duration: 8 * MINUTE,
    }),
    figures: (report) => [...within(report), atLeast("use", report.use, 0.96), atLeast("jain", report.jain, 0.99)],
  },
  ...[1, 10].map(
    (agents): Scenario => ({
      name: `fifty calls at once into an idle window, ${agents} agents`,
      options: () => ({
        agents,
        limits: thousand,
        demand: { load: 0, bursts: [{ at: 30 * SECOND, load: 0.05, agents: [0] }] },
        duration: MINUTE,
        measureFrom: 0,
      }),
      figures: (report) => [...within(report), atMost("wait p99", report.wait.p99, agents === 1 ? 999 : 4_999)],
      mostAgents: 10,
    }),
  ),
  {
    name: "a fixed window, three times the limit",
    options: () => ({ limits: thousand, demand: { load: 3 }, provider: { kind: "fixed" }, duration: 6 * MINUTE }),
    figures: (report) => [...within(report), atLeast("use", report.use, 0.96)],
  },
  {
    name: "a bucket, three times the limit",
    options: () => ({ limits: thousand, demand: { load: 3 }, provider: { kind: "bucket" }, duration: 6 * MINUTE }),
    figures: (report) => [...within(report), atLeast("use", report.use, 0.96)],
  },
  {
    name: "alone",
    options: () => ({ agents: 1, limits: thousand, demand: { load: 3 }, duration: 6 * MINUTE }),
    figures: (report) => [...within(report, 1), atLeast("use", report.use, 0.96)],
    mostAgents: 10,
  },
  {
    name: "a short window of five seconds",
    options: () => ({
      limits: { requests: 200, windowMs: 5 * SECOND },
      demand: { load: 3 },
      duration: 2 * MINUTE,
    }),
    figures: (report) => [...within(report), atLeast("use", report.use, 0.93)],
    mostAgents: 20,
  },
  {
    name: "a window of one second",
    options: () => ({
      limits: { requests: 100, windowMs: SECOND },
      demand: { load: 3 },
      duration: 2 * MINUTE,
    }),
    figures: (report) => [...within(report), atLeast("use", report.use, 0.8)],
    mostAgents: 20,
  },
];
