import { typicalTokens } from "../costs.ts";
import { useBetween } from "../recorder.ts";
import { atLeast, atMost, MINUTE, type Scenario, SECOND, tokens, within } from "./scenario.ts";

/** Calls of very different sizes, some larger than an agent's share, whose real usage is known only afterwards. */
export const tokenCosts: readonly Scenario[] = [
  {
    name: "tokens at three times the limit",
    options: () => ({ limits: tokens, demand: { load: 3, tokens: typicalTokens }, duration: 30 * MINUTE }),
    figures: (report, agents) => [
      ...within(report),
      atLeast("use", report.use, 0.95),
      ...(agents <= 10 ? [atLeast("jain", report.jain, 0.95)] : []),
      atMost("longest gap", report.longestGap, agents <= 10 ? 4 : 10),
    ],
  },
  {
    name: "tokens at 80 % of the limit",
    options: () => ({ limits: tokens, demand: { load: 0.8, tokens: typicalTokens }, duration: 20 * MINUTE }),
    figures: (report) => within(report),
  },
  ...[1, 10].map(
    (agents): Scenario => ({
      name: `one call of 60,000 tokens in an idle hive, ${agents} agents`,
      options: () => ({
        agents,
        limits: tokens,
        demand: { load: 0, tokens: 60_000, bursts: [{ at: 30 * SECOND, load: 0.6, agents: [0] }] },
        duration: MINUTE,
        measureFrom: 0,
      }),
      figures: (report) => [
        ...within(report),
        atLeast("accepted", report.accepted, 1),
        atMost("wait p99", report.wait.p99, agents === 1 ? 0 : 0.5 * SECOND),
      ],
      mostAgents: 10,
    }),
  ),
  {
    name: "a cut makes the largest calls too large for a while",
    options: () => ({
      limits: tokens,
      demand: { load: 3, tokens: { ...typicalTokens, rare: { part: 0.01, tokens: 60_000 } } },
      faults: [{ at: 4 * MINUTE, type: "refuse", agents: [0] }],
      duration: 10 * MINUTE,
    }),
    figures: (report) => [
      atMost("max", report.max, 1.02),
      atMost("refused", report.refused, 1),
      // After the cut, the level is between 0.5 and 0.67 during these two and a half minutes.
      atLeast("use after the cut", useBetween(report, 4.5 * MINUTE, 7 * MINUTE), 0.45),
      atMost("longest gap", report.longestGap, 6),
    ],
    mostAgents: 20,
  },
  {
    name: "tokens at 30 % of the limit",
    options: () => ({ limits: tokens, demand: { load: 0.3, tokens: typicalTokens }, duration: 20 * MINUTE }),
    figures: (report) => [...within(report), atMost("wait p99", report.wait.p99, 0.5 * SECOND)],
  },
  {
    name: "a hundredth of the calls takes 60 % of the limit",
    options: () => ({
      limits: tokens,
      demand: { load: 3, tokens: { ...typicalTokens, rare: { part: 0.01, tokens: 60_000 } } },
      duration: 30 * MINUTE,
    }),
    figures: (report, agents) => [
      ...within(report),
      atLeast("use", report.use, 0.9),
      atMost("longest gap", report.longestGap, agents <= 10 ? 6 : 15),
    ],
  },
  {
    name: "the usage of a call is known only afterwards",
    options: () => ({
      limits: tokens,
      demand: { load: 3, tokens: { ...typicalTokens, actual: [0.2, 1] } },
      provider: { latencyMs: [500, 6_000] },
      duration: 20 * MINUTE,
    }),
    figures: (report) => [...within(report), atLeast("use", report.use, 0.85)],
  },
  {
    // Calls in flight use more than their estimates: only better estimates would help.
    name: "calls use up to half more than estimated",
    options: () => ({
      limits: tokens,
      demand: { load: 3, tokens: { ...typicalTokens, actual: [0.5, 1.5] } },
      provider: { latencyMs: [500, 6_000] },
      duration: 20 * MINUTE,
    }),
    figures: (report) => [...within(report, 1.15), atMost("refused part", report.refused / report.sent, 0.02)],
  },
  {
    name: "requests and tokens, now one binds and now the other",
    options: () => ({
      limits: { requests: 300, tokens: 100_000 },
      demand: { load: (now) => (Math.floor(now / (4 * MINUTE)) % 2 ? 3 : 1.5), tokens: { from: 100, to: 600 } },
      duration: 16 * MINUTE,
    }),
    figures: (report) => [...within(report), atLeast("use", report.use, 0.95)],
  },
];
